package web

import (
	"net/url"
	"strconv"
	"strings"

	"teamdata/store"
)

// Bounds of the parameter limit.
const (
	minLimit     = 1
	MaxLimit     = 100 // of most lists
	defaultLimit = 50
)

// PageQuery is the requested page of a list.
type PageQuery struct {
	Limit     int
	After     store.Cursor // zero: from the start
	AfterText string       // as it was given
}

// ParsePageQuery reads the parameters limit and after of a URL's query, and
// ignores the rest.
func ParsePageQuery(query string) (PageQuery, error) { return ParsePageQueryUpTo(MaxLimit, query) }

// ParsePageQueryUpTo is ParsePageQuery for a list whose limit may be most.
func ParsePageQueryUpTo(most int, query string) (PageQuery, error) {
	q := PageQuery{Limit: defaultLimit}
	text, given, err := Parameter(query, "limit")
	if err != nil {
		return q, err
	}
	if given {
		if q.Limit, err = parseLimit(text, most); err != nil {
			return q, err
		}
	}
	if q.AfterText, given, err = Parameter(query, "after"); err != nil || !given {
		return q, err
	}
	var ok bool
	if q.After, ok = store.ParseCursor(q.AfterText); !ok {
		return q, store.Invalid("after", "must be the next of an earlier page, such as 1767225600000.mem_1").Advise("leave it out to start from the oldest")
	}
	return q, nil
}

// Parameter finds a query parameter. It ignores the rest of the query, whatever
// its form.
func Parameter(query, name string) (value string, given bool, err error) {
	for pair := range strings.SplitSeq(query, "&") {
		rawName, rawValue, _ := strings.Cut(pair, "=")
		if found, err := url.QueryUnescape(rawName); err != nil || found != name {
			continue
		}
		if given {
			return "", true, store.Invalid(name, "is given more than once").Advise("give it once")
		}
		given = true
		if value, err = url.QueryUnescape(rawValue); err != nil {
			return "", true, store.Invalid(name, "must not hold a broken %%-escape").Advise("a percent sign itself is %%25")
		}
	}
	return value, given, nil
}

// parseLimit reads ASCII digits, any number of them.
func parseLimit(text string, most int) (int, error) {
	limit, err := strconv.ParseUint(text, 10, 64)
	if err != nil || limit < minLimit || limit > uint64(most) {
		return 0, store.Invalid("limit", "must be a whole number from %d to %d, in digits", minLimit, most).Advise("leave it out for %d", defaultLimit)
	}
	return int(limit), nil
}

// PageStart is the start of a page's body.
const PageStart = `{"data":[`

// AppendPageEnd completes the body of a page after its items. next is the cursor
// of the last item; an empty page returns the given cursor unchanged, so that a
// poller can always continue from next.
func AppendPageEnd(page store.Page, after string) []byte {
	body := append(page.Items, `],"next":`...)
	switch {
	case page.Count > 0:
		body = append(page.Last.Append(append(body, '"')), '"')
	case after != "":
		body = store.AppendJSONString(body, after)
	default:
		body = append(body, "null"...)
	}
	body = strconv.AppendBool(append(body, `,"hasMore":`...), page.More)
	return append(body, '}')
}
