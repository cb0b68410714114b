package scale_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/rs/zerolog"

	"teamdata/app"
	"teamdata/e2e/kit"
	"teamdata/e2e/kit/load"
	"teamdata/e2e/kit/program"
	"teamdata/store"
)

type page struct {
	Data    []struct{ ID string }
	Next    string
	HasMore bool
}

// walk follows next from the start until hasMore is false, and returns the ids.
func walk(t *testing.T, p *program.Process, list string, limit int) (ids []string) {
	t.Helper()
	after := ""
	get := func(path, key string) (kit.Answer, error) { return p.Do("GET", path, key) }
	for n := 0; ; n++ {
		if n == 1000 {
			get = p.Get
		}
		a, err := get(fmt.Sprintf("%s?limit=%d%s", list, limit, after), program.ReadKey)
		var got page
		if err != nil || a.Status != 200 || json.Unmarshal([]byte(a.Body), &got) != nil {
			t.Fatalf("answered %d %s (%v)", a.Status, a.Body, err)
		}
		for _, item := range got.Data {
			ids = append(ids, item.ID)
		}
		if after = "&after=" + got.Next; !got.HasMore {
			return ids
		}
	}
}

// Loaded by --seed, a list is walked at any limit: each item once, oldest
// first.
func TestWalkASeededFile(t *testing.T) {
	t.Parallel()
	members, entries := kit.Size(300, 10_000), kit.Size(1000, 200_000)
	p := program.Serve(t, filepath.Join(t.TempDir(), "teamdata.db"),
		"--seed", kit.SeedOf(t, members, entries), "--key-rate", "0", "--client-rate", "0")
	for _, limit := range []int{1, 7, 50, 100} {
		for _, list := range []struct {
			path, id string
			size     int
		}{{"/members", "m%07d", members}, {"/audit-log", "a%07d", entries}} {
			ids := walk(t, p, list.path, limit)
			if len(ids) != list.size {
				t.Errorf("%s at limit %d has %d items, not %d", list.path, limit, len(ids), list.size)
			}
			for i, id := range ids {
				if want := fmt.Sprintf(list.id, i); id != want {
					t.Fatalf("%s at limit %d: item %d is %s, not %s", list.path, limit, i, id, want)
				}
			}
		}
	}
}

// While 8 writers append as fast as they can, 4 pollers that follow next see
// every entry exactly once, in the order of the commits.
func TestPollersMissNothing(t *testing.T) {
	t.Parallel()
	entries := kit.Size(500, 25_000) // of each writer
	const writers, pollers = 8, 4
	p, s := startInProcess(t)

	writing, done := context.WithCancel(context.Background())
	var group, polls sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for i := range entries {
				appendEntry(t, s, fmt.Sprintf("w%d_%d", w, i))
			}
		})
	}
	for range pollers {
		polls.Go(func() { load.Poll(t, []*program.Process{p}, "/audit-log", writing, writers, entries) })
	}
	group.Wait()
	done()
	polls.Wait()
}

func appendEntry(t *testing.T, s store.Store, action string) {
	err := s.Update(context.Background(), store.All, func(tx store.Tx) error {
		_, err := store.AppendAudit(tx, store.AuditEntry{OrgID: "org_acme", Action: action})
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// startInProcess runs a server inside the test, for what the API has no
// operation for.
func startInProcess(t *testing.T, change ...func(*app.Settings)) (*program.Process, store.Store) {
	t.Helper()
	s := app.Defaults()
	s.Data = filepath.Join(t.TempDir(), "teamdata.db")
	s.Listen, s.Seed = "127.0.0.1:0", program.Example
	s.KeyRate, s.ClientRate = 0, 0
	for _, c := range change {
		c(&s)
	}
	a, err := app.Start(context.Background(), s, zerolog.Nop())
	kit.Must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return program.Connect(t, a.URL(), a.CAFile()), a.Store()
}
