package rowstest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"teamdata/store/rows"
)

// Engine is an engine under test, with rows of [Kinds].
type Engine interface {
	// Update runs fn in a transaction that writes. Several at the same time may share a
	// commit, and one may run again.
	Update(fn func(*rows.Tx) error) error
	// View runs fn in one that only reads.
	View(fn func(*rows.Tx) error) error
	// Close closes the engine, so that it can be opened at its path again.
	Close() error
}

// Open opens the engine whose rows lie at a path: a new one the first time.
type Open func(t testing.TB, path string) Engine

// steps is the length of a history.
const steps = 60

// Test runs a random history, of a seed, on an engine and on a Model: transactions, of
// which some fail and some share a commit. They have to read the same, and
// leave the same rows after each step.
func Test(t *testing.T, seed uint64, open Open) {
	path := filepath.Join(t.TempDir(), "rows")
	h := &history{T: t, Rand: rand.New(rand.NewPCG(seed, 0)), engine: open(t, path), model: NewModel(nil), undone: map[string]bool{}, before: dawn}
	defer func() {
		if err := h.engine.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if t.Failed() {
			t.Logf("the last steps:\n\t%s", strings.Join(h.log[max(0, len(h.log)-8):], "\n\t"))
		}
	}()
	for range steps {
		h.pass()
		if h.IntN(20) > 0 {
			h.transact()
		} else {
			h.log = append(h.log, "reopen")
			if err := h.engine.Close(); err != nil {
				t.Fatalf("close: %v", err)
			}
			h.engine = open(t, path)
		}
		if h.compare(); t.Failed() {
			break
		}
	}
}

// history is one random run of an engine beside a Model.
type history struct {
	*testing.T
	*rand.Rand
	engine Engine
	model  *Model
	log    []string
	made   int             // how many transactions and ids were made up
	undone map[string]bool // transactions that failed, as Changes would name them
	before time.Time       // visits from before it may be dropped

	mu       sync.Mutex
	executed []*transaction // of a step, in the order in which they ran
}

// operation is something that is done in a transaction. Its result is the same for
// an engine and a Model.
type operation struct {
	name string
	run  func(*work) (string, error)
}

// work is a transaction that runs.
type work struct {
	*rows.Tx
	dropped map[string]bool // keys of rows that it deleted
	chosen  *chosen
	before  time.Time // as in the history
}

// chosen is what an engine chose by itself in a transaction, for the Model.
type chosen struct {
	engine  bool // it chooses
	numbers []uint64
}

type transaction struct {
	id         string
	before     time.Time // as in the history
	operations []operation
	fails      bool
	results    []string
	chosen     chosen
	err        error
}

func (t *transaction) String() string {
	var names []string
	for _, o := range t.operations {
		names = append(names, o.name)
	}
	if t.fails {
		names = append(names, "then it fails")
	}
	return t.id + ": " + strings.Join(names, "; ")
}

var errFailing = errors.New("this transaction is to fail")

// run runs the transaction in another one, of the engine or the Model.
func (t *transaction) run(tx *rows.Tx) (results []string, err error) {
	w := &work{Tx: tx, dropped: map[string]bool{}, chosen: &t.chosen, before: t.before}
	for _, o := range t.operations {
		result, err := o.run(w)
		if err != nil {
			return results, fmt.Errorf("%s: %w", o.name, err)
		}
		results = append(results, result)
	}
	tx.Changed().Again(t.id)
	if t.fails {
		return results, errFailing
	}
	return results, nil
}

// transact runs some transactions at the same time, and then one after the other on the
// Model, in the order in which the engine ran them.
func (h *history) transact() {
	h.executed = nil
	var all sync.WaitGroup
	for range []int{1, 1, 1, 2, 5}[h.IntN(5)] {
		t := h.transaction()
		h.log = append(h.log, t.String())
		all.Go(func() { h.execute(t) })
	}
	all.Wait()
	for _, t := range h.executed {
		h.replay(t)
	}
}

func (h *history) transaction() *transaction {
	h.made++
	t := &transaction{id: fmt.Sprint("tx", h.made), before: h.before, fails: h.IntN(5) == 0}
	for range 1 + h.IntN(6) {
		if h.IntN(3) == 0 {
			t.operations = append(t.operations, h.read())
		} else {
			t.operations = append(t.operations, h.write())
		}
	}
	return t
}

func (h *history) execute(t *transaction) {
	err := h.engine.Update(func(tx *rows.Tx) error {
		h.mu.Lock() // as one that runs again counts then
		h.executed = append(slices.DeleteFunc(h.executed, func(other *transaction) bool { return other == t }), t)
		for _, id := range tx.Changed().Written {
			if h.undone[id] {
				h.Errorf("%s sees what %s changed, which failed", t.id, id)
			}
		}
		h.mu.Unlock()
		t.chosen = chosen{engine: true}
		t.results, t.err = t.run(tx)
		h.mu.Lock()
		h.undone[t.id] = t.err != nil
		h.mu.Unlock()
		return t.err
	})
	if !errors.Is(err, t.err) || t.err == nil && err != nil {
		h.Errorf("%s: %v", t.id, err)
	}
}

// replay runs a transaction on the Model.
func (h *history) replay(t *transaction) {
	t.chosen.engine = false
	h.model.Begin()
	results, err := t.run(h.model.Tx())
	if err != nil {
		h.model.Undo()
	}
	if fmt.Sprint(err) != fmt.Sprint(t.err) {
		h.Errorf("%s: the engine says %v, the model %v", t.id, t.err, err)
		return
	}
	h.equal(t.operations, t.results, results)
}

// compare compares all that is there, and what some more is read as. At times more is
// written before the View ends, which it does not see.
func (h *history) compare() {
	all := append(everything(), mergeTickets)
	for range 10 {
		all = append(all, h.read())
	}
	meanwhile := h.IntN(4) == 0
	err := h.engine.View(func(tx *rows.Tx) error {
		got, err := h.results(tx, all)
		want, errModel := h.results(h.model.Tx(), all)
		if err = errors.Join(err, errModel); err != nil {
			return err
		}
		if h.equal(all, got, want); meanwhile {
			h.log = append(h.log, "meanwhile, beside a View:")
			h.transact()
			want = got
			got, err = h.results(tx, all)
			h.equal(all, got, want)
		}
		return err
	})
	if err != nil {
		h.Errorf("view: %v", err)
	}
}

// results are those of operations that read.
func (h *history) results(tx *rows.Tx, all []operation) (list []string, err error) {
	for _, o := range all {
		result, err := o.run(&work{Tx: tx, before: h.before})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.name, err)
		}
		list = append(list, result)
	}
	return list, nil
}

func (h *history) equal(of []operation, got, want []string) {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			h.Errorf("%s:\n got %s\nwant %s", of[i].name, got[i], want[i])
		}
	}
}
