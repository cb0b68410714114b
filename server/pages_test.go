package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"teamdata/store"
)

func TestLimit(t *testing.T) {
	for text, want := range map[string]int{
		"1": 1, "2": 2, "50": 50, "99": 99, "100": 100,
		"007": 7, "%31%30": 10, strings.Repeat("0", 500) + "100": 100,
		"0": 0, "101": 0, "000": 0, "-1": 0, "+5": 0, "%2B5": 0, "5.0": 0, "1e1": 0, "0x5": 0, "": 0,
		"+": 0, " 5": 0, "5+": 0, "٥": 0, "five": 0, "%": 0, "%zz": 0, "5;after=1.a": 0,
		"18446744073709551617": 0, strings.Repeat("9", 500): 0,
	} {
		q, err := parsePageQuery("limit=" + text)
		if valid := err == nil; valid != (want > 0) || valid && q.limit != want {
			t.Errorf("limit=%s: got %d, %v", text, q.limit, err)
		}
	}
}

// contractCursor is the pattern of after and next, word for word.
var contractCursor = regexp.MustCompile(`^\d{1,15}\.[\s\S]+$`)

func TestAfter(t *testing.T) {
	for _, text := range []string{
		"0.a", "1767225600000.mem_1", "999999999999999.x", "000000000000000.x", "1..", "1.a.b", "1. ", "1.\n", "1.ü\x00",
		"", ".a", "1.", "1", "a.b", "-1.a", "1234567890123456.a", "1.5e3", "１.a", "+1.a", " 1.a", "1,a",
	} {
		q, err := parsePageQuery("after=" + url.QueryEscape(text))
		if want := contractCursor.MatchString(text); (err == nil) != want {
			t.Errorf("after=%q: got %v, and the pattern says %v", text, err, want)
		}
		if err == nil && q.afterText != text {
			t.Errorf("after=%q became %q", text, q.afterText)
		}
	}
	if _, err := parsePageQuery("after=1.%ff"); err == nil {
		t.Error("text that is not UTF-8 passed; it can't be echoed")
	}
}

func TestPageQuery(t *testing.T) {
	for query, want := range map[string]string{ // the field that is complained of
		"":                           "",
		"&&":                         "",
		"other":                      "",
		"other=%zz&%zz=1&;=&limit=5": "",
		"Limit=0&AFTER=x":            "", // names are case-sensitive, so these are others
		"limit=5&after=1.a":          "",
		"%6Cimit=0":                  "limit",
		"limit":                      "limit",
		"limit=":                     "limit",
		"limit=5&limit=5":            "limit",
		"limit=5&%6cimit=5":          "limit",
		"limit=5&after=1.a&limit=6":  "limit",
		"limit=%":                    "limit",
		"limit=%4":                   "limit",
		"after":                      "after",
		"after=":                     "after",
		"after=1.a&after=1.a":        "after",
		"after=1.%zz":                "after",
		"after=&limit=0":             "limit",
	} {
		_, err := parsePageQuery(query)
		field := ""
		if err != nil {
			field = err.(*store.Error).Field
		}
		if field != want {
			t.Errorf("%s: got %v, want a complaint of %q", query, err, want)
		}
	}
	if q, _ := parsePageQuery("x=1"); q.limit != 50 || !q.after.IsZero() {
		t.Errorf("the default is %+v", q)
	}
}

// page is the envelope as a client reads it.
type page struct {
	Data    []struct{ ID string }
	Next    *string
	HasMore bool
}

func (w *world) page(path string) (p page) {
	w.Helper()
	answer := w.do(request("GET", path, "key_read"))
	if err := json.Unmarshal(answer.Body.Bytes(), &p); err != nil || answer.Code != http.StatusOK {
		w.Fatalf("%s: %d %s", path, answer.Code, answer.Body)
	}
	return p
}

// addMembers brings org_acme to 103 members, and its audit log to 103 entries.
func addMembers(w *world) {
	w.update(func(tx store.Tx) error {
		for i := range 100 {
			m := store.Member{OrgID: "org_acme", UserID: fmt.Sprint("usr_", i), Role: "member"}
			if _, err := store.AddMember(tx, "", m); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestPaging follows next from page to page, with every limit, and finds each
// item once, oldest first.
func TestPaging(t *testing.T) {
	w := newWorld(t, Config{})
	addMembers(w)
	for _, path := range []string{"/api/v1/members", "/api/v1/audit-log"} {
		all := w.walk(path, 100)
		if len(all) != 103 {
			t.Fatalf("%s holds %d items", path, len(all))
		}
		for _, limit := range []int{1, 2, 50, 51, 99} {
			if got := w.walk(path, limit); !slices.Equal(got, all) {
				t.Errorf("%s with limit=%d: %d items in another order", path, limit, len(got))
			}
		}
		if n := len(w.page(path).Data); n != 50 {
			t.Errorf("a page without limit holds %d items", n)
		}
	}
}

// walk reads a list page by page and holds each page to the rules.
func (w *world) walk(path string, limit int) (ids []string) {
	w.Helper()
	p := w.page(fmt.Sprintf("%s?limit=%d", path, limit))
	for {
		for _, item := range p.Data {
			ids = append(ids, item.ID)
		}
		if p.Next == nil || !contractCursor.MatchString(*p.Next) || len(p.Data) > limit || p.HasMore && len(p.Data) < limit {
			w.Fatalf("%s, limit %d: a page of %d items with next %v, hasMore %v", path, limit, len(p.Data), p.Next, p.HasMore)
		}
		following := w.page(fmt.Sprintf("%s?limit=%d&after=%s", path, limit, url.QueryEscape(*p.Next)))
		if p.HasMore != (len(following.Data) > 0) {
			w.Fatalf("%s, limit %d: hasMore is %v, and %d follow", path, limit, p.HasMore, len(following.Data))
		}
		if !p.HasMore {
			return ids
		}
		p = following
	}
}

// An item that is saved after a cursor was handed out is found behind it.
func TestPollerMissesNothing(t *testing.T) {
	w := newWorld(t, Config{})
	next := *w.page("/api/v1/members").Next
	w.clock.pass(-time.Hour) // the clock steps back
	happenings["mem_4 joins"](w)
	p := w.page("/api/v1/members?after=" + next)
	if len(p.Data) != 1 || p.Data[0].ID != "mem_4" {
		t.Errorf("behind %s there is %v", next, p.Data)
	}
}
