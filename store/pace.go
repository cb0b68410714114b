package store

import (
	"context"
	"time"
)

// Each transaction of long work touches up to firstStep records at first, and up to
// firstStep<<maxDoublings, which is 51,200, in the end.
const (
	firstStep    = 50
	maxDoublings = 10
)

// maxPause is the maximum pause after a transaction: a longer one would only add to what
// a disk that is stuck costs.
const maxPause = time.Second

// patience is how long work that somebody waits for goes on at its first pace.
const patience = 5 * time.Second

// pace is the pace of long work beside other writers. Each transaction touches 50
// records, and is followed by a pause as long as it took, up to a second. So it makes a
// commit little longer, and at least half of the time is the others' alone.
//
// Work that is not done after its patience hurries: with each further patience that
// passes, transactions become twice as large, and pauses half as long as they would
// be. So it ends, however much there is and however much comes in. A few
// commits hold all that comes in during a transaction and its pause; they are few
// because the share of the pauses shrinks, and each holds a bounded number of
// updates. A transaction of twice the size, again and again, is soon larger than
// that, and drops more than comes in. It gets no larger than it takes to keep up.
type pace struct {
	began    time.Time
	patience time.Duration
	every    time.Duration // from the start of a transaction to that of the next, at least
	pause    time.Duration // before the next transaction
}

func newPace(patience time.Duration) pace {
	return pace{began: time.Now(), patience: patience}
}

func (p *pace) doublings() int {
	return min(int(time.Since(p.began)/p.patience), maxDoublings)
}

// step is how many records the next transaction may touch.
func (p *pace) step() int { return firstStep << p.doublings() }

// update pauses, unless it is the first, and runs one transaction.
func (p *pace) update(ctx context.Context, s Store, scope Scope, fn func(tx Tx, step int) error) error {
	if p.pause > 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(p.pause):
		}
	}
	doublings, start := p.doublings(), time.Now()
	err := s.Update(ctx, scope, func(tx Tx) error { return fn(tx, firstStep<<doublings) })
	took := time.Since(start)
	p.pause = max(min(took, maxPause)>>doublings, p.every-took)
	return err
}
