package settings

import (
	"strings"
	"testing"
	"time"
)

func mustZone(t testing.TB, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func TestZoneNamed(t *testing.T) {
	for name, want := range map[string]string{
		"Europe/Berlin": "Europe/Berlin", "Asia/Tokyo": "Asia/Tokyo", "UTC": "UTC", "": "UTC", "Local": "UTC", "../../etc/passwd": "UTC",
		"/etc/localtime": "UTC", "Europe/Atlantis": "UTC", "<b>": "UTC", strings.Repeat("a/", 40): "UTC", "a\x00b": "UTC",
	} {
		if got := zoneNamed(name).String(); got != want {
			t.Errorf("%q is %s, want %s", name, got, want)
		}
	}
}

func TestFormatTimes(t *testing.T) {
	berlin := mustZone(t, "Europe/Berlin")
	now := time.Date(2026, 11, 24, 14, 35, 0, 0, berlin)
	for _, c := range []struct {
		at                 time.Time
		exact, within, ago string
	}{
		{now.Add(-4*time.Minute - 49*time.Second), "14:30:11", "at 14:30", "4 min"},
		{now.Add(4 * time.Minute), "14:39:00", "at 14:39", "in 4 min"},
		{now.Add(-59 * time.Second), "14:34:01", "at 14:34", "59 s"},
		{now, "14:35:00", "at 14:35", "now"},
		{now.Add(-15 * time.Hour), "23 Nov 23:35:00", "on 23 Nov at 23:35", "15 h"},
		{now.Add(-49 * time.Hour), "22 Nov 13:35:00", "on 22 Nov at 13:35", "2 d"},
		{now.AddDate(-1, 0, 0), "24 Nov 2025 14:35:00", "on 24 Nov 2025 at 14:35", "24 Nov 2025"},
	} {
		if got := timeStyles["minute"](c.at.UTC(), berlin, now); got != c.exact[:len(c.exact)-3] {
			t.Errorf("without seconds: got %q of %q", got, c.exact)
		}
		if got := formatAt(c.at.UTC(), berlin, now); got != c.within {
			t.Errorf("in a sentence: got %q, want %q", got, c.within)
		}
		if got := formatExact(c.at.UTC(), berlin, now); got != c.exact {
			t.Errorf("exact: got %q, want %q", got, c.exact)
		}
		if got := formatAgo(c.at.UTC(), berlin, now); got != c.ago {
			t.Errorf("ago: got %q, want %q", got, c.ago)
		}
	}
	if got := formatWhole(now.UTC(), berlin); got != "Tue 24 Nov 2026, 14:35:00 UTC+1" {
		t.Error(got)
	}
	for name, want := range map[string]string{"UTC": "UTC", "Europe/Berlin": "Europe/Berlin (UTC+1)", "Asia/Kolkata": "Asia/Kolkata (UTC+5:30)", "America/St_Johns": "America/St_Johns (UTC-3:30)"} {
		if got := formatZone(zoneNamed(name), now); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A row's time in Since and in Until selects exactly the second of the row.
func TestRowsTimesAreParsed(t *testing.T) {
	for _, name := range []string{"UTC", "Asia/Tokyo", "Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe", "Pacific/Apia"} {
		zone := mustZone(t, name)
		now := time.Date(2026, 11, 24, 13, 35, 0, 0, time.UTC)
		for at := now; at.After(now.AddDate(-1, -2, 0)); at = at.Add(-nextTried(at, zone, now)) {
			text := formatExact(at, zone, now)
			for _, text := range []string{text, at.In(zone).Format("2006-01-02T15:04:05"), at.In(zone).Format("2006-01-02 15:04"), at.Format(time.RFC3339), at.In(zone).Format(time.DateOnly)} {
				since, until, err := parseTime("since", text, zone, now)
				if err != nil || since.After(at) || !until.After(at) {
					t.Fatalf("%s: %s is %q, which is from %v to %v (%v)", name, at, text, since, until, err)
				}
				if text == at.In(zone).Format(time.DateOnly) {
					continue
				}
				if d := until.Sub(since); d != time.Second && d != time.Minute && d > time.Hour+time.Minute {
					t.Fatalf("%s: %q takes %v", name, text, d)
				}
			}
		}
	}
}

// nextTried is how far from a time the next one is that is tried: half an hour where the zone's clocks
// are changed, a year begins or it is now, within two days, and else some hours.
func nextTried(at time.Time, zone *time.Location, now time.Time) time.Duration {
	before, after := at.Add(-48*time.Hour).In(zone), at.Add(48*time.Hour).In(zone)
	_, offset := before.Zone()
	if _, changed := after.Zone(); changed != offset || after.Year() != before.Year() || after.After(now) {
		return 1801 * time.Second
	}
	return 7*time.Hour + 1801*time.Second
}

func TestParseTime(t *testing.T) {
	berlin := mustZone(t, "Europe/Berlin")
	now := time.Date(2026, 1, 2, 0, 30, 0, 0, berlin)
	for text, want := range map[string][2]string{
		"14:30:11":                  {"2026-01-02T13:30:11Z", "2026-01-02T13:30:12Z"},
		" 31 dec,  23:59 ":          {"2025-12-31T22:59:00Z", "2025-12-31T23:00:00Z"},
		"3 Jan":                     {"2026-01-02T23:00:00Z", "2026-01-03T23:00:00Z"},
		"29 Feb":                    {"2024-02-28T23:00:00Z", "2024-02-29T23:00:00Z"},
		"2026-03-29T02:30":          {"2026-03-29T01:30:00Z", "2026-03-29T01:31:00Z"}, // skipped
		"2025-10-26T02:30:00":       {"2025-10-26T00:30:00Z", "2025-10-26T01:30:01Z"}, // twice
		"2025-10-26":                {"2025-10-25T22:00:00Z", "2025-10-26T23:00:00Z"}, // 25 hours
		"2026-01-01T00:00:00.999":   {"2025-12-31T23:00:00Z", "2025-12-31T23:00:01Z"},
		"2026-01-01T00:00:00Z":      {"2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"},
		"2026-01-01T00:00:00+09:00": {"2025-12-31T15:00:00Z", "2025-12-31T15:00:01Z"},
	} {
		begin, end, err := parseTime("since", text, berlin, now)
		if got := [2]string{begin.UTC().Format(time.RFC3339), end.UTC().Format(time.RFC3339)}; err != nil || got != want {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"x", "25:00", "2026-13-01T00:00", "30 Feb", "1969-12-31T23:59", "99999-01-01", "24 Nov 14:30:11 PM", "<b>", "2026-02-30", "2026-11-24T14:30:11+24:00"} {
		if begin, _, err := parseTime("since", text, berlin, now); err == nil {
			t.Errorf("%q is %v", text, begin)
		}
	}
}

func FuzzParseTime(f *testing.F) {
	f.Add("24 Nov 14:30:11", "Europe/Berlin")
	f.Add("2026-03-29T02:30", "Asia/Tokyo")
	f.Add("29 Feb", "Pacific/Apia")
	f.Fuzz(func(t *testing.T, text, name string) {
		begin, end, err := parseTime("since", text, zoneNamed(name), time.Date(2026, 1, 2, 0, 30, 0, 0, time.UTC))
		if err == nil && !begin.IsZero() && !begin.Before(end) {
			t.Errorf("%q in %q is from %v to %v", text, name, begin, end)
		}
	})
}

func TestShowTimes(t *testing.T) {
	berlin, now := mustZone(t, "Europe/Berlin"), time.Date(2026, 11, 24, 14, 35, 0, 0, time.UTC)
	got := string(showTimes([]byte(`<p><time data-as="when" datetime="2026-11-24T13:30:11.000Z"></time>, <time data-as="ago" datetime="2026-11-24T14:31:00.000Z"></time></p>`), berlin, now))
	want := `<p><time datetime="2026-11-24T14:30:11.000+01:00" data-as="when" title="Tue 24 Nov 2026, 14:30:11 UTC+1">14:30:11</time>, ` +
		`<time datetime="2026-11-24T15:31:00.000+01:00" data-as="ago" title="Tue 24 Nov 2026, 15:31:00 UTC+1">4 min</time></p>`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
