package server

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"

	"teamdata/store"
)

var describedAt = []string{"/docs", "/llms.txt", describedJSON, describedYAML}

// Receivers see the event types that the operator registered, as they are now: in the
// page, in the text and in the document of each version.
func TestOwnEventTypesAreDescribed(t *testing.T) {
	env := newTestEnv(t, Config{versions: threeVersions})
	seen := func(want string, has bool) (etags []string) {
		t.Helper()
		for _, path := range describedAt {
			for _, version := range []string{"2026-10-06", "2024-01-01"} {
				answer := env.do(newRequest("GET", path, "", "API-Version", version))
				if answer.Code != http.StatusOK || strings.Contains(answer.Body.String(), want) != has {
					t.Errorf("%s in %s has %q: %v; %d", path, version, want, !has, answer.Code)
				}
				etags = append(etags, header(answer, "ETag")[0])
			}
		}
		return etags
	}
	before := seen("door.opened", false)
	register := func(description string) {
		env.Update(func(tx store.Tx) error {
			_, _, err := store.RegisterEventType(tx, store.EventType{Name: "door.opened", Description: description, Schema: []byte(`{"type":"object","properties":{"door":{"type":"string","examples":["door_7"]}}}`)})
			return err
		})
	}
	register("A door was opened.")
	after := seen("A door was opened.", true)
	seen("door_7", true)
	for i := range before {
		if before[i] == after[i] {
			t.Errorf("row %d: the entity tag is the same", i)
		}
	}
	register("A door is opened.")
	seen("A door was opened.", false)
	seen("A door is opened.", true)
	env.Update(func(tx store.Tx) error { return store.RemoveEventType(tx, "door.opened") })
	for i, etag := range seen("door.opened", false) {
		if etag != before[i] {
			t.Errorf("row %d: without the type, the entity tag is another", i)
		}
	}
}

// Many requests at once make one description, and one that the store refuses is made
// by the next.
func TestDescriptionIsMadeOnce(t *testing.T) {
	env := newTestEnv(t, Config{})
	counted := &countedViews{Store: env.server.store, fails: 1}
	env.server.store = counted
	if answer := env.do(newRequest("GET", "/docs", "")); answer.Code != http.StatusServiceUnavailable {
		t.Errorf("got %d %s", answer.Code, answer.Body)
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if answer := env.do(newRequest("GET", "/llms.txt", "")); answer.Code != http.StatusOK || !strings.HasPrefix(answer.Body.String(), "# Team Data API") {
				t.Errorf("got %d %.100s", answer.Code, answer.Body)
			}
		})
	}
	all.Wait()
	if counted.views != 2 {
		t.Errorf("the event types were read %d times", counted.views)
	}
}

// countedViews counts its Views, the first of which fail.
type countedViews struct {
	store.Store
	mu           sync.Mutex
	views, fails int
}

func (c *countedViews) View(ctx context.Context, fn func(store.Tx) error) error {
	c.mu.Lock()
	c.views++
	fails := c.views <= c.fails
	c.mu.Unlock()
	if fails {
		return store.Unavailable(errors.New("no"))
	}
	return c.Store.View(ctx, fn)
}
