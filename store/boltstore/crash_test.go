package boltstore

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"teamdata/store"
)

const crashRounds = 15

// numbered is one Update of the crash test: a change with everything that the
// first promise of the design puts into one commit with it.
func numbered(number string) func(store.Tx) error {
	return func(tx store.Tx) error {
		if err := appendAudit(number)(tx); err != nil {
			return err
		}
		d, err := store.SendTest(tx, testOrg, "whe_1")
		if err != nil {
			return err
		}
		return tx.AddIdempotencyRecord(store.IdempotencyRecord{
			OrgID: testOrg, Key: number, FirstUse: tx.Now(),
			Answer: store.Answer{Status: http.StatusAccepted, ContentType: "text/plain", Body: []byte(d.ID)},
		})
	}
}

// acknowledged is an Update of another kind: it moves a due entry.
func acknowledged(number string) func(store.Tx) error {
	return func(tx store.Tx) error {
		r, err := tx.IdempotencyRecord(testOrg, number)
		if err != nil {
			return err
		}
		a := store.Attempt{StartedAt: tx.Now(), EndedAt: tx.Now(), Status: http.StatusOK}
		if len(number)%2 == 0 {
			a = store.Attempt{StartedAt: tx.Now(), EndedAt: tx.Now(), Reason: "refused"}
		}
		_, err = store.RecordAttempt(tx, string(r.Answer.Body), a, store.DefaultRetrySchedule)
		return err
	}
}

// childWrites appends without end, in several goroutines so that commits are
// shared, and prints each number once its Update has returned.
func childWrites(args []string) error {
	first, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil {
		return err
	}
	s, err := Open(args[0], Options{})
	if err != nil {
		return err
	}
	var number atomic.Int64
	number.Store(first)
	var printing sync.Mutex
	failed := make(chan error)
	for range 6 {
		go func() {
			for {
				n := fmt.Sprint(number.Add(1))
				if err := s.Update(bg, store.All, numbered(n)); err != nil {
					failed <- err
				}
				printing.Lock()
				fmt.Println(n)
				printing.Unlock()
				if err := s.Update(bg, store.All, acknowledged(n)); err != nil {
					failed <- err
				}
			}
		}()
	}
	return <-failed
}

// TestCrash kills a writing process at random moments. What it had
// acknowledged is there whole, and what it had not is there whole or not at
// all. (A kill leaves the system's cache; that the disk was made to sync is
// bbolt's own to test.)
func TestCrash(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	f := newFixture(t, Options{})
	f.close()
	total := 0
	for round := range crashRounds {
		after := time.Duration(random.Int64N(int64(40 * time.Millisecond)))
		acked := crash(t, f.path, round*1_000_000, after)
		wellKept(t, f.path)
		f.open(Options{})
		found := f.findNumbered()
		for _, number := range acked {
			if !found[number] {
				t.Errorf("round %d: %s was acknowledged and is not there", round, number)
			}
		}
		f.close()
		total += len(acked)
	}
	t.Logf("%d Updates acknowledged in %d rounds", total, crashRounds)
	if total == 0 {
		t.Error("nothing was written")
	}
}

// crash starts the writing child, kills it a while after its first
// acknowledgement, and returns what it acknowledged.
func crash(t *testing.T, path string, first int, after time.Duration) (acked []string) {
	t.Helper()
	cmd := newChild(t, "write", path, fmt.Sprint(first))
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) {
			break
		}
		must(t, err)
		if len(acked) == 0 {
			time.AfterFunc(after, func() { cmd.Process.Kill() })
		}
		acked = append(acked, line[:len(line)-1])
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.Exited() {
		t.Fatalf("the child was to be killed, and ended by itself: %v", cmd.ProcessState)
	}
	return acked
}

// findNumbered finds the numbers in the audit log, and holds the rest of each
// Update to being there too, and to there being no more of it.
func (f *fixture) findNumbered() map[string]bool {
	f.Helper()
	found := make(map[string]bool)
	must(f, f.awaitKeys(bg))
	must(f, f.db.View(func(bolt *bbolt.Tx) error {
		t := newTx(f.Store, bolt, nil)
		t.now = f.Now()
		c := checker{bolt: bolt}
		entries := c.each(bolt.Bucket([]byte("auditLog")), func(_, item []byte) {
			number := targetOf(f, item)
			found[number] = true
			r, err := t.IdempotencyRecord(testOrg, number)
			must(f, err)
			d, err := t.Delivery(string(r.Answer.Body))
			must(f, err)
			if _, err := t.Event(d.EventID); err != nil {
				f.Errorf("%s: %v", number, err)
			}
		})
		events := bolt.Bucket(bucketEvents).Stats().KeyN
		deliveries := bolt.Bucket(bucketDeliveries).Stats().KeyN
		records := 0
		c.each(bolt.Bucket(bucketIdempotency), func(name, _ []byte) {
			records += bolt.Bucket(bucketIdempotency).Bucket(name).Stats().KeyN
		})
		if len(found) != entries || events != 0 || deliveries != entries || records != entries {
			f.Errorf("%d numbers, %d audit entries, %d events apart from their deliveries, %d deliveries, %d records", len(found), entries, events, deliveries, records)
		}
		return nil
	}))
	return found
}

func targetOf(t testing.TB, item []byte) string {
	t.Helper()
	var entry struct{ TargetID string }
	must(t, json.Unmarshal(item, &entry))
	return entry.TargetID
}
