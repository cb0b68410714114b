package settings

import (
	"net/url"
	"strings"
	"time"

	"teamdata/internal/canonical"
	"teamdata/store"
)

// timeForm is a form in which people give times.
type timeForm struct {
	layout string
	unit   time.Duration // that the text names: a second, a minute or a day
	lacks  string        // what it leaves to the present: "day", "year" or nothing
}

const wholeDay = 24 * time.Hour

// periods are those until now that filters offer, by their field time.
var periods = map[string]time.Duration{"1h": time.Hour, "24h": wholeDay, "7d": 7 * wholeDay}

// timeRange is the part of a filter that is about time.
type timeRange struct {
	Time      string // one of periods; or "between", if a bound is given; or empty
	SinceText string // as in the form
	UntilText string

	// After parse.
	Since time.Time // the first moment in the range; zero: no bound
	Until time.Time // the first moment after it; zero: no bound
}

// timeRangeOf is the range of a query, before parse. Bounds count unless a period is
// chosen.
func timeRangeOf(query url.Values) timeRange {
	if t := query.Get("time"); periods[t] > 0 {
		return timeRange{Time: t}
	}
	t := timeRange{SinceText: query.Get("since"), UntilText: query.Get("until")}
	if t.SinceText != "" || t.UntilText != "" {
		t.Time = "between"
	}
	return t
}

// query is the range as withQuery takes it.
func (t timeRange) query() []string {
	if t.Time == "between" {
		t.Time = ""
	}
	return []string{"time", t.Time, "since", t.SinceText, "until", t.UntilText}
}

// parse reads the bounds in a zone.
func (t *timeRange) parse(zone *time.Location, now time.Time) (err error) {
	if t.Since, _, err = parseTime("since", t.SinceText, zone, now); err == nil {
		_, t.Until, err = parseTime("until", t.UntilText, zone, now)
	}
	if period := periods[t.Time]; period > 0 {
		t.Since = now.Add(-period)
	}
	return err
}

// timeForms are what rows show, the values of date and time inputs, and dates.
var timeForms = []timeForm{
	{"15:04:05", time.Second, "day"},
	{"15:04", time.Minute, "day"},
	{"2 Jan 15:04:05", time.Second, "year"},
	{"2 Jan 15:04", time.Minute, "year"},
	{"2 Jan", wholeDay, "year"},
	{"2 Jan 2006 15:04:05", time.Second, ""},
	{"2 Jan 2006 15:04", time.Minute, ""},
	{"2 Jan 2006", wholeDay, ""},
	{"2006-01-02 15:04:05", time.Second, ""},
	{"2006-01-02 15:04", time.Minute, ""},
	{"2006-01-02", wholeDay, ""},
}

// parseTime parses the text of a filter's field in the reader's zone: a second, a minute or
// a day. begin is its first moment and end the one after it, so that until includes all of
// it; both are zero for an empty text. A clock that is set back shows a time twice; the text
// names both, and what is between. The error names the field.
func parseTime(field, text string, zone *time.Location, now time.Time) (begin, end time.Time, err error) {
	text = strings.Join(strings.Fields(strings.ReplaceAll(text, ",", " ")), " ")
	if text == "" {
		return begin, end, nil
	}
	if t, ok := canonical.DateTime(text); ok {
		t = t.UTC().Truncate(time.Second)
		return checkTime(field, t, t.Add(time.Second))
	}
	if len(text) > 10 && text[10] == 'T' { // of a date and time input
		text = text[:10] + " " + text[11:]
	}
	for _, form := range timeForms {
		if wall, err := time.Parse(form.layout, text); err == nil {
			begin, end := form.complete(wall.Truncate(time.Second), zone, now)
			return checkTime(field, begin, end)
		}
	}
	return begin, end, errNoTime(field)
}

// checkTime refuses times that the data can't have.
func checkTime(field string, begin, end time.Time) (time.Time, time.Time, error) {
	if begin.Before(time.UnixMilli(0)) || end.After(store.MaxTime) {
		return time.Time{}, time.Time{}, errNoTime(field)
	}
	return begin, end, nil
}

func errNoTime(field string) error {
	return store.Invalid(field, "must be a time such as 14:30:11, 24 Nov 14:30 or 2030-12-31 18:30, not before 1970")
}

// complete returns the first moment of a time on the wall and the one after its last. The
// day or year that it lacks is taken from the present.
func (f timeForm) complete(wall time.Time, zone *time.Location, now time.Time) (begin, end time.Time) {
	now = now.In(zone)
	switch f.lacks {
	case "day":
		wall = wall.AddDate(now.Year()-wall.Year(), int(now.Month()-wall.Month()), now.Day()-wall.Day())
	case "year":
		wall = latestMatchingDay(wall, now)
	}
	begin, end = wallTimes(wall, zone)
	if f.unit == wholeDay {
		end, _ = wallTimes(wall.AddDate(0, 0, 1), zone)
		return begin, end
	}
	return begin, end.Add(f.unit)
}

// latestMatchingDay is the last such day that is no more than a day ahead; 29 February is not
// in every year.
func latestMatchingDay(wall, now time.Time) time.Time {
	tomorrow := time.Date(now.Year(), now.Month(), now.Day()+2, 0, 0, 0, 0, time.UTC)
	for year := now.Year() + 1; ; year-- {
		t := wall.AddDate(year-wall.Year(), 0, 0)
		if t.Day() == wall.Day() && t.Before(tomorrow) {
			return t
		}
	}
}

// wallTimes are the first and the last moment at which clocks of a zone show a time;
// where they skip it, the moment that they would have shown it.
func wallTimes(wall time.Time, zone *time.Location) (first, last time.Time) {
	first = time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), 0, zone)
	last = first
	for _, beside := range []time.Duration{-wholeDay, wholeDay} {
		_, offset := first.Add(beside).Zone()
		t := wall.Add(-time.Duration(offset) * time.Second).In(zone)
		if t.Format(time.DateTime) != wall.Format(time.DateTime) {
			continue
		}
		if t.Before(first) {
			first = t
		}
		if t.After(last) {
			last = t
		}
	}
	return first, last
}
