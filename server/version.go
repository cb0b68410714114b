package server

import (
	"net/http"

	"teamdata/store"
)

// version is one published date of the API.
type version struct {
	date    string
	changes []change // what turns an answer of the next newer version into one of this version
}

// change turns back one thing that a newer version does differently. It is a
// pure function of the route's path (empty for an unknown route) and the
// answer, and must not write into the answer's body.
type change func(path string, a store.Answer) store.Answer

// published are the versions that a request can pin, newest first. The first
// is the current one, in which handlers answer. An older one stays for at least
// 12 months after the next newer one was published.
var published = []version{
	{date: "2026-10-06"},
}

// pinnedVersion reads the header API-Version. The result is an index into
// s.versions, and the current version with the error.
func (s *Server) pinnedVersion(h http.Header) (int, error) {
	values := h["Api-Version"]
	switch len(values) {
	case 0:
		return 0, nil
	case 1:
		for i := range s.versions {
			if s.versions[i].date == values[0] {
				return i, nil
			}
		}
		return 0, store.Invalid("API-Version", "there is no version %.40q; the current one is %s", values[0], s.versions[0].date)
	}
	return 0, store.Invalid("API-Version", "is given more than once; send it once")
}

// inVersion turns an answer of the current version into one of the pinned
// version. For the current version that is nothing at all.
func (x *exchange) inVersion(a store.Answer) store.Answer {
	for _, older := range x.s.versions[1 : 1+x.version] {
		for _, change := range older.changes {
			a = change(x.routePath(), a)
		}
	}
	return a
}

func (x *exchange) routePath() string {
	if x.route == nil {
		return ""
	}
	return x.route.path
}
