package settings

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // for images without a file system of zones; the machine's own come first
)

// zoneCookie is the cookie with the reader's time zone, which the page's script sets.
const zoneCookie = "tz"

// maxZoneName is how many bytes the name of a zone may have.
const maxZoneName = 64

// zones are the zones that were loaded, by name. There are about 600.
var zones sync.Map

// zone is the reader's time zone; UTC while it is not known.
func (r *request) zone() *time.Location { return zoneNamed(r.CookieNamed(zoneCookie)) }

// zoneNamed is a zone by its IANA name, such as Europe/Berlin; UTC if there is no such zone.
func zoneNamed(name string) *time.Location {
	if known, ok := zones.Load(name); ok {
		return known.(*time.Location)
	}
	if len(name) > maxZoneName || name == "Local" { // the server's own
		return time.UTC
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return time.UTC
	}
	zones.Store(name, zone)
	return zone
}

// clock is the time of the request: the transaction's, if there was one.
func (r *request) clock() time.Time {
	switch {
	case !r.Now.IsZero():
		return r.Now
	case r.s.config.TestClock != nil:
		return r.s.config.TestClock()
	}
	return time.Now()
}

// formatZone names a zone and its offset, such as "Europe/Berlin (UTC+1)".
func formatZone(zone *time.Location, at time.Time) string {
	if zone == time.UTC {
		return "UTC"
	}
	return zone.String() + " (" + formatOffset(zone, at) + ")"
}

// formatOffset is how far a zone is from UTC, such as UTC+1 or UTC-3:30.
func formatOffset(zone *time.Location, at time.Time) string {
	_, offset := at.In(zone).Zone()
	sign, minutes := "+", offset/60
	if minutes < 0 {
		sign, minutes = "-", -minutes
	}
	text := "UTC" + sign + strconv.Itoa(minutes/60)
	if minutes%60 > 0 {
		text += ":" + strconv.Itoa(100 + minutes%60)[1:]
	}
	return text
}

// formatExact is a time as lists show it that are compared or filtered: of today
// "14:30:11", else "24 Nov 14:30:11", with the year if it is another.
func formatExact(t time.Time, zone *time.Location, now time.Time) string {
	t, now = t.In(zone), now.In(zone)
	switch {
	case t.Year() != now.Year():
		return t.Format("2 Jan 2006 15:04:05")
	case t.YearDay() != now.YearDay():
		return t.Format("2 Jan 15:04:05")
	}
	return t.Format(time.TimeOnly)
}

// formatWhole is a time with everything: weekday, year and zone.
func formatWhole(t time.Time, zone *time.Location) string {
	t = t.In(zone)
	if zone == time.UTC {
		return t.Format("Mon 2 Jan 2006, 15:04:05 UTC")
	}
	return t.Format("Mon 2 Jan 2006, 15:04:05 ") + formatOffset(zone, t)
}

// formatAgo is how long ago a time was, such as "4 min", or is to come: "in 4 min".
// After 90 days it is the date.
func formatAgo(t time.Time, zone *time.Location, now time.Time) string {
	before, d := "", now.Sub(t)
	if d < 0 {
		before, d = "in ", -d
	}
	count := func(unit time.Duration, name string) string {
		return before + strconv.Itoa(int(d/unit)) + " " + name
	}
	switch {
	case d < time.Second:
		return "now"
	case d < time.Minute:
		return count(time.Second, "s")
	case d < time.Hour:
		return count(time.Minute, "min")
	case d < wholeDay:
		return count(time.Hour, "h")
	case d < 90*wholeDay:
		return count(wholeDay, "d")
	}
	return t.In(zone).Format("2 Jan 2006")
}

// formatAt is a time within a sentence, to the minute: "at 14:30", "on 24 Nov at 14:30", or
// with the year if it is another.
func formatAt(t time.Time, zone *time.Location, now time.Time) string {
	t, now = t.In(zone), now.In(zone)
	switch {
	case t.Year() != now.Year():
		return t.Format("on 2 Jan 2006 at 15:04")
	case t.YearDay() != now.YearDay():
		return t.Format("on 2 Jan at 15:04")
	}
	return t.Format("at 15:04")
}

// timeStyles are how the parts of parts_time.html show a time.
var timeStyles = map[string]func(t time.Time, zone *time.Location, now time.Time) string{
	"when":  formatExact,
	"at":    formatAt,
	"whole": func(t time.Time, zone *time.Location, _ time.Time) string { return formatWhole(t, zone) },
	"minute": func(t time.Time, zone *time.Location, now time.Time) string {
		return strings.TrimSuffix(formatExact(t, zone, now), t.Format(":05"))
	},
	"ago":  formatAgo,
	"date": func(t time.Time, zone *time.Location, _ time.Time) string { return t.In(zone).Format("2 Jan 2006") },
}

// What the parts of parts_time.html leave to showTimes, around the style and the time.
const (
	timeOpening = `<time data-as="`
	timeMiddle  = `" datetime="`
	timeEnding  = `"></time>`
)

// showTimes fills in the times of a page in the reader's zone. Templates are shared
// by all requests, so they know of no zone; what people wrote can't be taken for such
// an element, since it is escaped.
func showTimes(page []byte, zone *time.Location, now time.Time) []byte {
	var filled []byte
	for {
		before, rest, found := bytes.Cut(page, []byte(timeOpening))
		if !found {
			return append(filled, page...)
		}
		element, after, _ := bytes.Cut(rest, []byte(timeEnding))
		filled, page = appendTime(append(filled, before...), string(element), zone, now), after
	}
}

// appendTime appends one time element to a page.
func appendTime(dst []byte, element string, zone *time.Location, now time.Time) []byte {
	style, at, _ := strings.Cut(element, timeMiddle)
	t, err := time.Parse(time.RFC3339, at)
	format := timeStyles[style]
	if err != nil || format == nil {
		return append(dst, at...)
	}
	return fmt.Appendf(dst, `<time datetime="%s" data-as="%s" title="%s">%s</time>`,
		t.In(zone).Format("2006-01-02T15:04:05.000Z07:00"), style, formatWhole(t, zone), cmp.Or(format(t, zone, now), at))
}
