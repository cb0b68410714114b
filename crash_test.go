package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"go.etcd.io/bbolt"
)

// seed makes a run of random moments repeatable.
func seedFromEnvironment(t *testing.T) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("TEAMDATA_TEST_SEED"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = n
	}
	t.Logf("run it again with TEAMDATA_TEST_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, seed))
}

// Idempotency rule 1 across a crash: killed right after the answer, the replay
// is byte for byte the first answer.
func TestReplayAfterKill(t *testing.T) {
	data := filepath.Join(t.TempDir(), "teamdata.db")
	p := serveProcess(t, data, "--seed", "testdata/example.json")
	first := p.must("POST", "/webhooks/whe_hook/test", writeKey, "Idempotency-Key", "once")
	missing := p.must("POST", "/webhooks/whe_none/test", writeKey, "Idempotency-Key", "missing")
	p.kill()

	p = serveProcess(t, data)
	for key, before := range map[string]answer{"once": first, "missing": missing} {
		path := map[string]string{"once": "/webhooks/whe_hook/test", "missing": "/webhooks/whe_none/test"}[key]
		again := p.must("POST", path, writeKey, "Idempotency-Key", key)
		if again.body != before.body || again.status != before.status || again.header.Get("Content-Type") != before.header.Get("Content-Type") {
			t.Errorf("the replay is %d %s, the first answer was %d %s", again.status, again.body, before.status, before.body)
		}
		if again.header.Get("Idempotent-Replayed") != "true" || before.header.Get("Idempotent-Replayed") != "" {
			t.Error("Idempotent-Replayed marks the wrong answer")
		}
	}
}

// Killed at random moments of 200 POSTs, restarted, and each POST made again
// until it is answered: each key has exactly one delivery.
func TestKilledAtRandom(t *testing.T) {
	random := seedFromEnvironment(t)
	data := filepath.Join(t.TempDir(), "teamdata.db")
	flags := []string{"--key-rate", "0", "--client-rate", "0"}
	p := serveProcess(t, data, append(flags, "--seed", "testdata/example.json")...)
	const posts = 200
	answers := make([]map[string]bool, posts) // the ids that each key was answered with
	for i := range answers {
		answers[i] = map[string]bool{}
	}
	for round := 0; ; round++ {
		last := round == 8
		killed := make(chan struct{})
		if last {
			close(killed)
		} else {
			after := time.Duration(random.IntN(25)) * time.Millisecond
			time.AfterFunc(after, func() { p.cmd.Process.Kill(); close(killed) })
		}
		postAll(t, p, answers)
		<-killed
		if last {
			break
		}
		p.cmd.Wait()
		p = serveProcess(t, data, flags...)
	}
	ids := map[string]bool{}
	for key, got := range answers {
		if len(got) != 1 {
			t.Errorf("key %d was answered with %d deliveries: %v", key, len(got), got)
		}
		for id := range got {
			ids[id] = true
		}
	}
	p.kill()
	if n := countDeliveries(t, data); n != posts || len(ids) != posts {
		t.Errorf("the file holds %d deliveries, and %d were answered; there are %d keys", n, len(ids), posts)
	}
}

// postAll makes the 200 POSTs, 8 at a time, until the server is gone.
func postAll(t *testing.T, p *process, answers []map[string]bool) {
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			for i := worker; i < len(answers); i += 8 {
				a, err := p.do("POST", "/webhooks/whe_hook/test", writeKey, "Idempotency-Key", fmt.Sprint("key ", i))
				if err != nil {
					return
				}
				var body struct{ ID string }
				if json.Unmarshal([]byte(a.body), &body) != nil || a.status != 200 {
					t.Errorf("key %d was answered %d %s", i, a.status, a.body)
					return
				}
				answers[i][body.ID] = true
			}
		})
	}
	group.Wait()
}

// countDeliveries looks into the file itself, whose layout is docs/format.md.
func countDeliveries(t *testing.T, data string) (n int) {
	t.Helper()
	db, err := bbolt.Open(data, 0o600, &bbolt.Options{ReadOnly: true, Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.View(func(tx *bbolt.Tx) error {
		n = tx.Bucket([]byte("deliveries")).Stats().KeyN
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
