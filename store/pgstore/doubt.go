package pgstore

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"time"
)

// doubt is a commit whose answer was lost. The marker that it writes in the
// same transaction shows whether it succeeded.
type doubt struct {
	t        *tx
	commitNo int64
}

// doubts counts the commits whose answer was lost, by what the marker told.
type doubts struct {
	there, gone, open atomic.Uint64
	waiting           []doubt // whose callers could not be told; the writer's
}

func (d *doubts) all() uint64 { return d.there.Load() + d.gone.Load() + d.open.Load() }

// resolveEvery is how often the marker is asked for.
const resolveEvery = 50 * time.Millisecond

// resolve finds out what became of a commit that failed with lost: nil if it is
// there. The lock on the marker waits for the end of a transaction that still runs, and
// is committed itself, which waits for a standby as that one did. If
// the database can't be asked until then, the writer learns it with its next group.
// Meanwhile it refuses those that wait for a commit of their own.
func (s *Store) resolve(d doubt, until time.Time, lost error) error {
	ctx, cancel := context.WithDeadline(context.Background(), until)
	defer cancel()
	for ctx.Err() == nil {
		commitNo, err := s.marker(ctx)
		switch {
		case err == nil && commitNo == d.commitNo:
			s.doubts.there.Add(1)
			if d.t.Touched || d.t.Retyped { // who has to see it was in the answer
				d.t.published = published{math.MaxInt64, 1}
			}
			return nil
		case err == nil:
			s.doubts.gone.Add(1)
			return notCommitted(lost)
		case tableGone(err):
			return s.replaced()
		}
		s.queue.Refuse(fault(err)) // they would wait in vain
		select {
		case <-ctx.Done():
		case <-time.After(resolveEvery):
		}
	}
	s.doubts.open.Add(1)
	s.doubts.waiting = append(s.doubts.waiting, d)
	return fmt.Errorf("it is unknown whether a commit succeeded: %w", lost)
}

// marker reads the number of this server's last commit.
func (s *Store) marker(ctx context.Context) (commitNo int64, err error) {
	var writer, last []row
	err = s.writing.run(ctx, query{sql: sqlBegin}, query{sql: sqlLimits},
		newQuery(sqlHoldWriter, s.node.id).collect(&writer), newQuery(sqlCommitNo, s.node.id).collect(&last),
		query{sql: "COMMIT"})
	switch {
	case err != nil:
		return 0, err
	case len(writer) == 0:
		return 0, errNotCommitted
	}
	return readBigint(last[0][0]), nil
}

// look drops the commits that turn out not to be there, by the number of the last one. What
// the others changed is told by settleDoubts.
func (d *doubts) look(commitNo int64) {
	d.waiting = slices.DeleteFunc(d.waiting, func(d doubt) bool { return d.commitNo > commitNo })
}

// settleDoubts tells, behind a commit that came after them, what those changed that turned
// out to be there.
func (s *Store) settleDoubts() {
	for _, d := range s.doubts.waiting {
		s.tell(d.t)
	}
	s.doubts.waiting = nil
}
