package storetest

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"teamdata/store"
	"teamdata/store/rows"
)

var (
	oneSeed = flag.Uint64("storetest.seed", 0, "run the random test with this seed alone; 0 runs storetest.seeds of them")
	seeds   = flag.Uint64("storetest.seeds", 3, "how many seeds the random test runs: from 1 on, or after a number that follows from SEED in the environment")
	every   = flag.Int("storetest.every", 4, "after how many steps the random test compares all that can be read; with storetest.seed after each")
)

// testRandom runs random histories. Each is its seed's alone, but for the order
// in which a store runs the transactions of a burst.
func testRandom(t *testing.T, open Open) {
	base, _ := strconv.ParseUint(os.Getenv("SEED"), 10, 64)
	base %= 1e9 // so that a seed is short enough to be typed
	first, last := base+1, base+*seeds
	if *oneSeed != 0 {
		first, last = *oneSeed, *oneSeed
	}
	t.Logf("seeds %d to %d", first, last)
	for seed := first; seed <= last; seed++ {
		t.Run(fmt.Sprint(seed), func(one *testing.T) {
			one.Parallel()
			if !t.Failed() {
				newHistory(one, open, seed).run()
			}
		})
	}
}

// steps is the length of a history.
const steps = 80

// history is one random run of a store beside an oracle.
type history struct {
	*Subject
	*rand.Rand
	seed     uint64
	oracle   *oracle
	names    Names
	notified *Notices
	claimed  map[string]store.Delivery // as they were
	drawn    []any                     // for the operation that is drawn
	log      []string                  // what was done, for a report

	imported int       // how many ids were made up
	latest   time.Time // that the clock showed

	mu       sync.Mutex
	executed []*transaction // of a burst, in the order in which they ran
}

func newHistory(t *testing.T, open Open, seed uint64) *history {
	h := &history{
		Subject: New(t, open), Rand: rand.New(rand.NewPCG(seed, 0)), seed: seed,
		oracle: newOracle(), names: maps.Clone(randomNames), claimed: map[string]store.Delivery{},
	}
	h.notified = h.Notices()
	return h
}

func (h *history) run() {
	defer h.report()
	for step := 1; step <= steps && !h.Failed(); step++ {
		h.step()
		if step%*every == 0 || step == steps || *oneSeed != 0 {
			h.compare()
		}
	}
}

// step does one thing to the store and the oracle.
func (h *history) step() {
	switch n := h.IntN(100); {
	case n < 46:
		h.transact(h.newTransaction())
	case n < 66:
		h.transact(h.newBurst(2 + h.IntN(5))...)
	case n < 75:
		h.dispatch()
	case n < 81:
		h.consume()
	case n < 85:
		h.upkeep()
	case n < 97:
		h.moveClock()
	default:
		h.note("reopen")
		h.Reopen()
		h.notified = h.Notices()
		clear(h.claimed)
	}
}

func (h *history) note(format string, args ...any) {
	h.log = append(h.log, fmt.Sprintf(format, args...))
}

// report tells how a failed history came about, and how to see it again.
func (h *history) report() {
	r := recover()
	if r != nil {
		h.Errorf("%v", r) // the oracle and the store disagree
	}
	if !h.Failed() {
		return
	}
	h.Logf("seed %d, the last steps:\n\t%s", h.seed, strings.Join(h.log[max(0, len(h.log)-8):], "\n\t"))
	h.Logf("see it again with: go test -run '%s' -args -storetest.seed=%d", h.Name(), h.seed)
}

// moveClock moves the clock: mostly on by a little, sometimes by a day, sometimes
// back.
func (h *history) moveClock() {
	most := []time.Duration{2 * time.Millisecond, 10 * time.Minute, 30 * time.Hour, -time.Minute, -5 * time.Hour}[h.IntN(5)]
	h.moveClockBy(time.Duration(h.Float64() * float64(most)).Truncate(time.Millisecond))
}

func (h *history) moveClockBy(d time.Duration) {
	h.note("the clock moves by %v", d)
	h.Clock.Move(d)
	if now := h.Clock.Now(); now.After(h.latest) {
		h.latest = now
	}
	h.adoptRecords()
}

// adoptRecords lets the store say which idempotency records are there that had
// expired before the clock stepped back: it may have dropped them, or not.
func (h *history) adoptRecords() {
	kind := rows.Kinds()[slices.IndexFunc(rows.Kinds(), func(k *rows.Kind) bool { return k.Name == "idempotency" })]
	var back []string
	err := h.oracle.Scan(kind, rows.Range{Index: rows.ByKey}, func(item rows.Item) bool {
		first, err := kind.At(item.Value)
		if err != nil {
			h.Fatal(err)
		}
		if expired(first, h.latest) && !expired(first, h.Clock.Now()) {
			back = append(back, string(item.Key))
		}
		return true
	})
	if err != nil {
		h.Fatal(err)
	}
	for _, both := range back {
		org, key, _ := strings.Cut(both, "\x00")
		h.Read(func(tx store.Tx) error {
			if _, err := tx.IdempotencyRecord(org, key); store.IsNotFound(err) {
				return h.oracle.DeleteIdempotencyRecord(org, key)
			}
			return nil
		})
	}
}

func latest(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

func expired(firstUse, now time.Time) bool { return now.Sub(firstUse) >= store.IdempotencyTTL }

// compare compares all that can be read from the store and the oracle.
func (h *history) compare() {
	h.oracle.begin(&trace{now: h.Clock.Now()})
	var got string
	var backlog store.Backlog
	h.Read(func(tx store.Tx) (err error) {
		got = dump(tx, h.names)
		backlog, err = tx.Backlog(context.Background())
		return err
	})
	h.Same("store and oracle", got, dump(h.oracle.Tx, h.names))
	h.Equal("each due", h.Due(), h.oracle.eachDue())
	for number, at := range h.oracle.pullDue() {
		due, err := h.oracle.PullDue(number)
		h.Code("due to be pulled", err, "")
		h.Equal("due to be pulled", latest(due, h.Clock.Now()), at)
	}
	want, err := h.oracle.Backlog(context.Background())
	h.Code("backlog", err, "")
	h.Equal("backlog", backlog, want)
}
