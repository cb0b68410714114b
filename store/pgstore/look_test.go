package pgstore

import (
	"testing"
	"time"
)

// What is due is looked for when others have committed, once a second, and as soon as
// possible if it was missed, also by a node that is alone.
func TestDueAgain(t *testing.T) {
	var k known
	other := func(n int64) []row { return []row{{[]byte("nod_other"), bigint(n)}} }
	now := time.Now()
	for i, step := range []struct {
		after   time.Duration
		commits []row
		missed  bool
		again   bool
	}{
		{0, nil, false, false},
		{0, nil, true, true},
		{0, nil, false, false},
		{dueEvery, other(1), false, true},
		{dueEvery, other(1), false, false},
		{0, other(2), false, true},
		{0, other(3), false, false},
		{0, other(3), true, true},
		{dueEvery, other(3), false, false},
	} {
		if step.missed {
			k.miss()
		}
		if now = now.Add(step.after); k.dueAgain(now, step.commits) != step.again {
			t.Errorf("step %d: it is looked for: %v", i, !step.again)
		}
	}
}
