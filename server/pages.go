package server

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"teamdata/store"
)

// Bounds of the parameter limit.
const (
	minLimit     = 1
	maxLimit     = 100
	defaultLimit = 50
)

func (x *exchange) listMembers() error  { return x.list(store.Tx.MemberPage) }
func (x *exchange) listAuditLog() error { return x.list(store.Tx.AuditPage) }

// pageReader reads a page of one of the lists, appending its items to dst.
type pageReader func(tx store.Tx, orgID string, after store.Cursor, limit int, dst []byte) (store.Page, error)

// list answers a page. Its body is put together out of the stored items' bytes
// inside the View, and sent after it: a slow client holds no transaction open.
func (x *exchange) list(read pageReader) error {
	q, err := parsePageQuery(x.r.URL.RawQuery)
	if err != nil {
		return err
	}
	body := bodies.Get().(*[]byte)
	defer bodies.Put(body)
	var page store.Page
	err = x.s.store.View(x.r.Context(), func(tx store.Tx) (err error) {
		opening := append((*body)[:0], `{"data":[`...)
		page, err = read(tx, x.access.Key.OrgID, q.after, q.limit, opening)
		return err
	})
	if err != nil {
		return err
	}
	*body = appendRest(page, q.afterText)
	x.answer(jsonAnswer(http.StatusOK, *body))
	return nil
}

// bodies are the buffers that pages are built in.
var bodies = sync.Pool{New: func() any {
	b := make([]byte, 0, 16<<10)
	return &b
}}

// appendRest completes the envelope behind a page's items. next is the cursor
// of the last item; an empty page hands back the cursor that was given, as it
// was written, so that a poller can always go on from next.
func appendRest(page store.Page, after string) []byte {
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

// pageQuery says which page of a list is asked for.
type pageQuery struct {
	limit     int
	after     store.Cursor // zero: from the start
	afterText string       // as it was given
}

func parsePageQuery(query string) (pageQuery, error) {
	q := pageQuery{limit: defaultLimit}
	text, given, err := parameter(query, "limit")
	if err != nil {
		return q, err
	}
	if given {
		if q.limit, err = parseLimit(text); err != nil {
			return q, err
		}
	}
	if q.afterText, given, err = parameter(query, "after"); err != nil || !given {
		return q, err
	}
	var ok bool
	if q.after, ok = store.ParseCursor(q.afterText); !ok {
		return q, store.Invalid("after", "must be the next of an earlier page, such as 1767225600000.mem_1; leave it out to start from the oldest")
	}
	return q, nil
}

// parameter finds a query parameter. What else is in the query does not
// matter, whatever its form.
func parameter(query, name string) (value string, given bool, err error) {
	for pair := range strings.SplitSeq(query, "&") {
		rawName, rawValue, _ := strings.Cut(pair, "=")
		if found, err := url.QueryUnescape(rawName); err != nil || found != name {
			continue
		}
		if given {
			return "", true, store.Invalid(name, "is given more than once; give it once")
		}
		given = true
		if value, err = url.QueryUnescape(rawValue); err != nil {
			return "", true, store.Invalid(name, "must not hold a broken %%-escape; a percent sign itself is %%25")
		}
	}
	return value, given, nil
}

// parseLimit reads ASCII digits, any number of them.
func parseLimit(text string) (int, error) {
	limit := 0
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return 0, errLimit
		}
		limit = min(10*limit+int(text[i]-'0'), maxLimit+1)
	}
	if limit < minLimit || limit > maxLimit {
		return 0, errLimit
	}
	return limit, nil
}

var errLimit = store.Invalid("limit", "must be a whole number from %d to %d, in digits; leave it out for %d", minLimit, maxLimit, defaultLimit)
