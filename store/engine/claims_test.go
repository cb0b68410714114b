package engine

import (
	"fmt"
	"testing"
	"time"

	"teamdata/store"
)

// list is what waits, in order. amid runs while it is walked, with each position.
type list struct {
	at   []store.Cursor
	amid func(id string)
}

func (l list) Walk(offer func(store.Cursor) bool) (e store.Endpoint, err error) {
	for _, at := range l.at {
		if l.amid != nil {
			l.amid(at.ID)
		}
		if !offer(at) {
			break
		}
	}
	return e, nil
}

func (l list) Load(at []store.Cursor) (claims []store.Claim, err error) {
	for _, at := range at {
		claims = append(claims, store.Claim{Delivery: store.Delivery{ID: at.ID}})
	}
	return claims, nil
}

// What was attempted while a snapshot is read is left for the next one, also if more was
// released than is remembered.
func TestReleasedAmidAClaim(t *testing.T) {
	for _, others := range []int{0, maxRecent} {
		var c Claims
		now := time.UnixMilli(10)
		claim := func(l list) (store.Claims, string) {
			t.Helper()
			claims, err := c.Claim(func(fn func(Waiting) error) error { return fn(l) }, now, 2)
			if err != nil {
				t.Fatal(err)
			}
			ids := ""
			for _, d := range claims.Claims {
				ids += d.Delivery.ID
			}
			return claims, ids
		}
		a, b := store.Cursor{Ms: 1, ID: "a"}, store.Cursor{Ms: 2, ID: "b"}
		if _, ids := claim(list{at: []store.Cursor{a}}); ids != "a" {
			t.Fatalf("claimed %q", ids)
		}
		released := false
		claims, ids := claim(list{at: []store.Cursor{a, b}, amid: func(id string) {
			if id == "a" && !released { // its outcome was written after the snapshot
				c.Release("a")
				for i := range others {
					c.Release(fmt.Sprint("other", i))
				}
				released = true
			}
		}})
		want := "b"
		if others > 0 { // nothing of that snapshot is sure, and all of a later one is
			want = "ab"
		} else if !claims.Next.Equal(time.UnixMilli(1)) {
			t.Errorf("the one left is due at %s", claims.Next)
		}
		if ids != want {
			t.Errorf("%d others were released: claimed %q", others, ids)
		}
	}
}
