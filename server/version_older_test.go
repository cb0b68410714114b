package server

import (
	"bytes"
	"net/http"

	"teamdata/store"
)

// threeVersions has two made-up older versions, which show what a change may be.
// In 2025-01-01 a member's userId was called user, and over a limit the code was
// tooManyRequests. Before that, in 2024-01-01, a test delivery's id was called
// delivery, a key that is not good was 403 forbidden, and a route that there is
// not 410.
var threeVersions = []version{
	{date: "2026-10-06"},
	{date: "2025-01-01", changes: []change{
		renamed("/members", "userId", "user"),
		recoded("rateLimited", "tooManyRequests", http.StatusTooManyRequests),
	}},
	{date: "2024-01-01", changes: []change{
		renamed("/webhooks/:id/test", "id", "delivery"),
		recoded("unauthorized", "forbidden", http.StatusForbidden),
		func(path string, a store.Answer) store.Answer {
			if path == "" && a.Status == http.StatusNotFound {
				a.Status = http.StatusGone
			}
			return a
		},
	}},
}

// renamed gives a field of a route's answers the name that it had. A name with
// its quotes and colon can't be part of a value, whose quotes are escaped.
func renamed(path, name, old string) change {
	return func(at string, a store.Answer) store.Answer {
		if at == path {
			a.Body = bytes.ReplaceAll(a.Body, []byte(`"`+name+`":`), []byte(`"`+old+`":`))
		}
		return a
	}
}

// recoded gives an error the code and the status that it had.
func recoded(code store.Code, old string, status int) change {
	prefix := func(code string) []byte { return []byte(`{"error":{"code":"` + code + `"`) }
	return func(_ string, a store.Answer) store.Answer {
		if rest, ok := bytes.CutPrefix(a.Body, prefix(string(code))); ok {
			a.Body, a.Status = append(prefix(old), rest...), status
		}
		return a
	}
}
