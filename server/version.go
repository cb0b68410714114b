package server

import (
	"net/http"
	"strconv"
	"time"

	"teamdata/store"
)

// version is one published date of the API.
type version struct {
	date    string   // of its publication, in UTC: 2006-01-02
	changes []change // what turns an answer of the next newer version into one of this version
}

// change reverts one difference of a newer version. It is a pure function of the
// route's path (empty for an unknown route) and the answer, and must not write
// into the answer's body.
type change func(path string, a store.Answer) store.Answer

// published are the versions that a request can pin, newest first. The first
// is the current one, in which handlers answer. An older one stays at least
// until the end of its support; see supportedUntil.
var published = []version{
	{date: "2026-10-06"},
}

// publishedOn returns the day of a version. A test checks that each date is valid.
func (v version) publishedOn() time.Time {
	day, _ := time.Parse(time.DateOnly, v.date)
	return day
}

// supportedUntil returns when support ends for the version before a newer one: 12
// months after the end of the day on which the newer one was published.
func supportedUntil(newer version) time.Time {
	return newer.publishedOn().AddDate(1, 0, 1)
}

// pinnedVersion reads the header API-Version. The result is an index into
// s.config.versions; on error, that of the current version.
func (s *Server) pinnedVersion(h http.Header) (int, error) {
	values := h["Api-Version"]
	switch len(values) {
	case 0:
		return 0, nil
	case 1:
		for i := range s.config.versions {
			if s.config.versions[i].date == values[0] {
				return i, nil
			}
		}
		return 0, store.Invalid("API-Version", "there is no version %.40q", values[0]).Advise("the current one is %s", s.config.versions[0].date)
	}
	return 0, store.Invalid("API-Version", "is given more than once").Advise("send it once")
}

// inVersion converts an answer of the current version to the pinned one; it
// changes nothing if they are the same.
func (r *request) inVersion(a store.Answer) store.Answer {
	for _, older := range r.s.config.versions[1 : 1+r.version] {
		for _, change := range older.changes {
			a = change(r.routePath(), a)
		}
	}
	return a
}

// lifecycle is the Link header of answers of an older version: where to read what
// has changed.
var lifecycle = []string{`</docs#versions>; rel="deprecation sunset"; type="text/html"`}

// setVersion sets the headers of the answer's version. For an older one they
// include when the newer one was published (RFC 9745) and when support ends (RFC
// 8594).
func (r *request) setVersion() {
	r.SetHeader("API-Version", r.s.config.versions[r.version].date)
	if r.version == 0 {
		return
	}
	h, newer := r.W.Header(), r.s.config.versions[r.version-1]
	h["Deprecation"] = []string{"@" + strconv.FormatInt(newer.publishedOn().Unix(), 10)}
	h["Sunset"] = []string{supportedUntil(newer).Format(http.TimeFormat)}
	h["Link"] = lifecycle
}

// routePath is empty for an unknown route.
func (r *request) routePath() string {
	if !r.HasRoute() {
		return ""
	}
	return r.route.path
}
