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

func (env *testEnv) page(path string) (p page) {
	env.Helper()
	answer := env.do(newRequest("GET", path, "key_read"))
	if err := json.Unmarshal(answer.Body.Bytes(), &p); err != nil || answer.Code != http.StatusOK {
		env.Fatalf("%s: %d %s", path, answer.Code, answer.Body)
	}
	return p
}

// addMembers brings org_acme to 103 members, and its audit log to 103 entries.
func addMembers(env *testEnv, n int) {
	env.Update(func(tx store.Tx) error {
		for i := range n {
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
	env := newTestEnv(t, Config{})
	addMembers(env, 100)
	for _, path := range []string{"/api/v1/members", "/api/v1/audit-log"} {
		all := env.walk(path, 100)
		if len(all) != 103 {
			t.Fatalf("%s holds %d items", path, len(all))
		}
		for _, limit := range []int{1, 2, 3, 7, 50, 51, 52, 99} { // of 103
			if got := env.walk(path, limit); !slices.Equal(got, all) {
				t.Errorf("%s with limit=%d: %d items in another order", path, limit, len(got))
			}
		}
		if n := len(env.page(path).Data); n != 50 {
			t.Errorf("a page without limit holds %d items", n)
		}
	}
}

// walk reads a list page by page and holds each page to the rules.
func (env *testEnv) walk(path string, limit int) (ids []string) {
	env.Helper()
	p := env.page(fmt.Sprintf("%s?limit=%d", path, limit))
	for {
		for _, item := range p.Data {
			ids = append(ids, item.ID)
		}
		if p.Next == nil || !contractCursor.MatchString(*p.Next) || len(p.Data) > limit || p.HasMore && len(p.Data) < limit {
			env.Fatalf("%s, limit %d: a page of %d items with next %v, hasMore %v", path, limit, len(p.Data), p.Next, p.HasMore)
		}
		following := env.page(fmt.Sprintf("%s?limit=%d&after=%s", path, limit, url.QueryEscape(*p.Next)))
		if p.HasMore != (len(following.Data) > 0) {
			env.Fatalf("%s, limit %d: hasMore is %v, and %d follow", path, limit, p.HasMore, len(following.Data))
		}
		if !p.HasMore {
			return ids
		}
		p = following
	}
}

// An item that is saved after a cursor was handed out is found behind it.
func TestPollerMissesNothing(t *testing.T) {
	env := newTestEnv(t, Config{})
	next := *env.page("/api/v1/members").Next
	env.Advance(-time.Hour) // the clock steps back
	steps["mem_4 joins"](env)
	p := env.page("/api/v1/members?after=" + next)
	if len(p.Data) != 1 || p.Data[0].ID != "mem_4" {
		t.Errorf("behind %s there is %v", next, p.Data)
	}
}
