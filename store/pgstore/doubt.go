package pgstore

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"
	"time"
)

// doubt is a commit whose answer was lost. What became of it is told by the marker
// that it writes in the same transaction.
type doubt struct {
	t        *tx
	commitNo int64
}

// doubts counts the commits whose answer was lost, by what the marker told.
type doubts struct{ there, gone, open atomic.Uint64 }

func (d *doubts) all() uint64 { return d.there.Load() + d.gone.Load() + d.open.Load() }

// How long and how often the marker is asked for.
const (
	resolveTime  = 15 * time.Second
	resolveEvery = 50 * time.Millisecond
)

// resolve finds out what became of a commit that failed with lost: nil if it is
// there. The lock on the marker waits for the end of a transaction that still runs. If
// the database can't be asked for so long, the writer learns it with its next group.
// Meanwhile it refuses those that wait for a commit of their own.
func (w *writer) resolve(d doubt, lost error) error {
	ctx, cancel := context.WithTimeout(context.Background(), resolveTime)
	defer cancel()
	for ctx.Err() == nil {
		commitNo, err := w.marker(ctx)
		switch {
		case err == nil && commitNo == d.commitNo:
			w.doubts.there.Add(1)
			if d.t.Touched || d.t.Retyped { // who has to see it was in the answer
				d.t.published = published{math.MaxInt64, 1}
			}
			return nil
		case err == nil:
			w.doubts.gone.Add(1)
			return notCommitted(lost)
		case tableGone(err):
			return w.replaced()
		}
		w.queue.Refuse(fault(err)) // they would wait in vain
		select {
		case <-ctx.Done():
		case <-time.After(resolveEvery):
		}
	}
	w.doubts.open.Add(1)
	w.doubt = &d
	return fmt.Errorf("it is unknown whether a commit succeeded: %w", lost)
}

// lockMarker locks and reads the number of the writer's last commit.
func (w *writer) lockMarker() query {
	return newQuery("SELECT n FROM commits WHERE node = $1 AND writer = $2 FOR UPDATE", w.node.id, w.number)
}

// marker reads the number of the writer's last commit.
func (w *writer) marker(ctx context.Context) (commitNo int64, err error) {
	c, err := w.writing.acquire(ctx)
	if err != nil {
		return 0, err
	}
	defer w.writing.release(c)
	rows, err := c.rows(ctx, w.lockMarker())
	if err == nil && len(rows) == 0 {
		err = errNotCommitted
	}
	if err != nil {
		return 0, err
	}
	return readBigint(rows[0][0]), nil
}

// settleDoubt reports what a commit changed that turns out to be there.
func (w *writer) settleDoubt(commitNo int64) {
	if w.doubt != nil && commitNo == w.doubt.commitNo {
		w.tell(w.doubt.t)
	}
	w.doubt = nil
}
