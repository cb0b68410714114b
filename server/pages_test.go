package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"testing"
	"time"

	"teamdata/store"
)

// contractCursor is the pattern of after and next, word for word.
var contractCursor = regexp.MustCompile(`^\d{1,15}\.[\s\S]+$`)

// page is the envelope as a client reads it.
type page struct {
	Data    []struct{ ID string }
	Next    *string
	HasMore bool
}

func (w *world) page(path string) (p page) {
	w.Helper()
	answer := w.do(newRequest("GET", path, "key_read"))
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
		for limit := 1; limit < 100; limit++ {
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
