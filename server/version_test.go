package server

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/wire/web"
)

// everPublished are the dates of all versions that ever were current, newest
// first. A line is added with each version and never removed: it is what tells
// that a row of published went too early.
var everPublished = []string{
	"2026-10-06",
}

func TestPublishedVersions(t *testing.T) {
	for _, fault := range tableFaults(published, everPublished, time.Now()) {
		t.Error(fault)
	}
}

// tableFaults are what is wrong with a table of versions at a time.
func tableFaults(table []version, ever []string, now time.Time) (faults []string) {
	complain := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	for i, v := range table {
		if v.publishedOn().IsZero() {
			complain("%q is not a date", v.date)
		}
		if i > 0 && v.date >= table[i-1].date {
			complain("%s stands below %s; the newest comes first", v.date, table[i-1].date)
		}
		if i >= len(ever) || v.date != ever[i] {
			complain("%s is not in its place in everPublished: add it there; only the oldest rows may be removed", v.date)
		}
		if hasChanges := len(v.changes) > 0; hasChanges != (i > 0) {
			complain("%s: an older version has changes, the current one has none", v.date)
		}
	}
	if n := len(table); n > 0 && n < len(ever) {
		if end := supportedUntil(version{date: ever[n-1]}); now.Before(end) {
			complain("%s is supported until %s; put its row back", ever[n], end.Format(time.DateOnly))
		}
	}
	return faults
}

func TestTableFaults(t *testing.T) {
	ever := []string{"2026-10-06", "2025-01-01", "2024-01-01"}
	lastDay := time.Date(2027, 10, 6, 23, 59, 59, 0, time.UTC)
	row := func(date string) version { return version{date, threeVersions[1].changes} }
	current := version{date: "2026-10-06"}
	for name, tt := range map[string]struct {
		table []version
		now   time.Time
		want  string // in the only fault; empty: none
	}{
		"whole":                   {threeVersions, kit.Noon, ""},
		"removed in time":         {threeVersions[:2], kit.Noon, ""},
		"removed on its last day": {threeVersions[:1], lastDay, "2025-01-01 is supported until 2027-10-07"},
		"removed a day later":     {threeVersions[:1], lastDay.Add(time.Second), ""},
		"removed in the middle":   {[]version{current, row("2024-01-01")}, lastDay.Add(time.Second), "only the oldest rows"},
		"never listed":            {append(slices.Clone(threeVersions), row("2023-01-01")), lastDay, "2023-01-01 is not in its place"},
		"an older one that changes nothing": {[]version{current, {date: "2025-01-01"}, row("2024-01-01")}, lastDay,
			"2025-01-01: an older version has changes"},
		"a current one that is turned back": {append([]version{row("2026-10-06")}, threeVersions[1:]...), lastDay,
			"the current one has none"},
	} {
		faults := tableFaults(tt.table, ever, tt.now)
		if tt.want == "" && faults == nil {
			continue
		}
		if len(faults) != 1 || tt.want == "" || !strings.Contains(faults[0], tt.want) {
			t.Errorf("%s: %q, want %q", name, faults, tt.want)
		}
	}
	upsideDown := tableFaults([]version{current, row("2026-13-01")}, []string{"2026-10-06", "2026-13-01"}, lastDay)
	if got := strings.Join(upsideDown, "; "); got != `"2026-13-01" is not a date; 2026-13-01 stands below 2026-10-06; the newest comes first` {
		t.Errorf("got %s", got)
	}
}

func TestSupportedUntil(t *testing.T) {
	for newer, want := range map[string]string{
		"2026-10-06": "2027-10-07T00:00:00Z",
		"2026-12-31": "2028-01-01T00:00:00Z",
		"2027-02-28": "2028-02-29T00:00:00Z",
		"2028-02-28": "2029-03-01T00:00:00Z",
		"2028-02-29": "2029-03-02T00:00:00Z",
	} {
		if got := supportedUntil(version{date: newer}).Format(time.RFC3339); got != want {
			t.Errorf("what came before %s is supported until %s, want %s", newer, got, want)
		}
	}
}

// TestOlderVersions plays the stories of made-up older versions, as
// TestExchanges does those of the current one.
func TestOlderVersions(t *testing.T) {
	files, err := filepath.Glob("../testdata/exchanges/older/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no exchanges: %v", err)
	}
	for _, file := range files {
		playFile(t, file, Config{KeyRate: DefaultKeyRate, ClientRate: DefaultClientRate, versions: threeVersions})
	}
}

// Every answer names the pinned version and says when its support ends, whatever
// else it says; the current one, which has no end, when none could be pinned.
func TestEveryAnswerNamesItsVersion(t *testing.T) {
	env := newTestEnv(t, Config{versions: threeVersions, KeyRate: 1})
	env.do(newRequest("GET", "/api/v1/members", "key_team"))
	holds := func(r *http.Request, status int) {
		t.Helper()
		r.Header.Set("API-Version", "2025-01-01")
		answer := env.do(r)
		if answer.Code != status {
			t.Errorf("got %d, want %d", answer.Code, status)
		}
		for name, want := range map[string]string{
			"API-Version": "2025-01-01", "Deprecation": "@1791244800", "Sunset": "Thu, 07 Oct 2027 00:00:00 GMT", "Link": lifecycle[0],
		} {
			if got := header(answer, name); len(got) != 1 || got[0] != want {
				t.Errorf("%d with %s %q, want %q", status, name, got, want)
			}
		}
	}
	holds(newRequest("GET", "/api/v1/members", "key_read"), http.StatusOK)
	holds(newRequest("GET", "/api/v1/members?limit=0", "key_both"), http.StatusBadRequest)
	holds(newRequest("GET", "/api/v1/members", ""), http.StatusUnauthorized)
	holds(newRequest("GET", "/api/v1/members", "key_free"), http.StatusPaymentRequired)
	holds(newRequest("GET", "/api/v1/members", "key_write"), http.StatusForbidden)
	holds(newRequest("GET", "/api/v1/none", ""), http.StatusNotFound)
	holds(newRequest("PUT", "/api/v1/members", ""), http.StatusMethodNotAllowed)
	holds(withBody(newRequest("POST", "/api/v1/webhooks/whe_open/test", "key_hour"), maxBody+1), http.StatusRequestEntityTooLarge)
	holds(newRequest("GET", "/api/v1/members", "key_team"), http.StatusTooManyRequests)
	steps["the storage fails"](env)
	holds(newRequest("GET", "/api/v1/members", "key_lapsed"), http.StatusServiceUnavailable)
	steps["the server begins to stop"](env)
	holds(newRequest("GET", "/api/v1/none", ""), http.StatusServiceUnavailable)
}

func TestCurrentVersionHasNoEnd(t *testing.T) {
	env := newTestEnv(t, Config{versions: threeVersions})
	for _, pinned := range []string{"", "2026-10-06", "2023-01-01"} {
		r := newRequest("GET", "/api/v1/members", "key_read")
		if pinned != "" {
			r.Header.Set("API-Version", pinned)
		}
		answer := env.do(r)
		if named := header(answer, "API-Version"); len(named) != 1 || named[0] != "2026-10-06" {
			t.Errorf("%q is answered in %q", pinned, named)
		}
		if h := answer.Header(); h["Deprecation"] != nil || h["Sunset"] != nil || h["Link"] != nil {
			t.Errorf("%q is answered with %v", pinned, h)
		}
	}
}

// Each older version is told an end that lies at least 12 months after the start
// of its deprecation, and none ends before one that is older still.
func TestEndsComeInOrder(t *testing.T) {
	env := newTestEnv(t, Config{versions: threeVersions})
	last := time.Now().AddDate(1000, 0, 0)
	for _, v := range threeVersions[1:] {
		h := env.do(newRequest("HEAD", "/api/v1/members", "key_read", "API-Version", v.date)).Header()
		since, err := strconv.ParseInt(strings.TrimPrefix(h["Deprecation"][0], "@"), 10, 64)
		kit.Must(t, err)
		end, err := http.ParseTime(h["Sunset"][0])
		if err != nil || end.Before(time.Unix(since, 0).AddDate(1, 0, 0)) || !end.Before(last) {
			t.Errorf("%s: deprecated since %s, until %s, %v", v.date, h["Deprecation"], h["Sunset"], err)
		}
		last = end
	}
}

// Clients of the current version don't pay for older ones.
func TestCurrentVersionCostsNothing(t *testing.T) {
	x := &request{s: &Server{config: Config{versions: threeVersions}}, route: &routes[0]}
	a := web.JSON(http.StatusOK, []byte("{}"))
	if n := testing.AllocsPerRun(100, func() { a = x.inVersion(a) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
