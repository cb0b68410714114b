package pgstore

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"time"

	"teamdata/store"
	"teamdata/store/engine"
)

// maxTries is how often a group is run whose transaction the database gave up, or
// lost with its connection before the commit was sent.
const maxTries = 5

// errNotCommitted marks a lost transaction that surely left nothing, and errNobody one that
// failed where each of this node would: no other needs to try.
var (
	errNotCommitted = errors.New("the connection was lost before the commit")
	errNobody       = errors.New("this node can't commit now")
)

// doubtTime is how long it may take to tell a caller about its commit, from the moment the
// writer took it: less than a proxy waits for an answer.
const doubtTime = 15 * time.Second

const (
	// A group that waited for crowdedWait met others who had the same orgs. For crowdedTime
	// groups of minTurns and more have two turns.
	crowdedWait = time.Millisecond
	crowdedTime = time.Second
	minTurns    = 16
)

// turns splits a group in two by orgs while other nodes write to the same ones. Every
// second node begins with the other half, so that two commit at the same time instead of
// one waiting for the other.
func (s *Store) turns(group []*engine.Update) [][]*engine.Update {
	if len(group) < minTurns || time.Since(s.crowded) > crowdedTime {
		return [][]*engine.Update{group}
	}
	turns := make([][]*engine.Update, 2)
	own := s.node.half()
	for _, u := range group {
		half := own
		if len(u.Scope.Orgs) > 0 {
			half = crc32.ChecksumIEEE([]byte(u.Scope.Orgs[0])) % 2
		}
		turns[half^own] = append(turns[half^own], u)
	}
	return slices.DeleteFunc(turns, func(turn []*engine.Update) bool { return len(turn) == 0 })
}

// commit runs a group in one transaction, notifies of what it changed, and sets each
// update's error. If the commit fails, they all fail: one's rejection may be due to
// another's lost write. If a statement was rejected, each runs alone, so that only
// those fail that cause it; but not if rows that were read are gone, which nothing that
// is meant to write here does.
func (s *Store) commit(group []*engine.Update) { s.tryCommit(group, time.Now(), false) }

// tryCommit is commit, for updates that the writer took at a time, and that run again with
// care if a row that was said to be new is there.
func (s *Store) tryCommit(group []*engine.Update, began time.Time, careful bool) {
	var err error
	reread := careful || s.options.Sole
	for try := range maxTries {
		if try > 0 {
			s.retries.Add(1)
		}
		if err = s.attempt(group, began, reread, careful); err == nil {
			return
		}
		if updatedTooFew(err) && !reread && slices.ContainsFunc(group, fenced) {
			reread = true // a delivery was written since it was claimed
			continue
		}
		var again bool
		if again, err = s.prepareAgain(s.life, err); again {
			continue
		}
		if !retryable(err) && !errors.Is(err, errNotCommitted) {
			break
		}
	}
	if !careful && !broken(err) && !updatedTooFew(err) && !errors.Is(err, errNobody) {
		for i := range group {
			s.tryCommit(group[i:i+1], began, true)
		}
		return
	}
	for _, u := range group {
		u.Err = fault(err)
	}
}

func fenced(u *engine.Update) bool { return u.Scope.Fence.Token != 0 }

// attempt runs a group once; reread: with the claimed deliveries read again.
func (s *Store) attempt(group []*engine.Update, began time.Time, reread, careful bool) error {
	if s.life.Err() != nil {
		return context.Cause(s.life)
	}
	ctx, cancel := context.WithDeadline(context.Background(), began.Add(answerTime))
	defer cancel()
	c, err := s.writing.acquire(ctx)
	if err != nil {
		return err
	}
	defer s.writing.release(c)
	t := newTx(s, ctx, c)
	t.rowTx.On(t, &s.records)
	t.begun, t.over = true, newOverlay()
	commitNo, err := t.begin(group, reread)
	t.over.careful = careful
	written := 0
	for i := 0; err == nil && i < len(group); i++ {
		if s.run(t, group[i]) {
			written++
		}
		err = t.err
	}
	if len(t.lacking) > 0 {
		return &lackingError{t.lacking}
	}
	if err != nil {
		return notCommitted(err)
	}
	if written == 0 && !t.replayed && len(s.doubts.waiting) == 0 {
		return nil
	}
	if before := s.options.BeforeCommit; before != nil {
		err = before()
	}
	if err == nil {
		err = t.commit(commitNo, began)
	}
	if err == nil {
		s.settleDoubts()
		s.tell(t)
	}
	s.Committed(store.Commit{Updates: written, Took: time.Since(began), Err: err})
	return err
}

// notCommitted marks the loss of a connection.
func notCommitted(err error) error {
	if broken(err) {
		return fmt.Errorf("%w: %w", errNotCommitted, err)
	}
	return err
}

// sqlLockedAt is sqlClock, and how many microseconds ago the transaction began.
const sqlLockedAt = sqlClock + ", (extract(epoch FROM clock_timestamp() - transaction_timestamp()) * 1000000)::bigint"

// An update of some orgs and users locks the table updates together with others, and one
// of everything alone. A role that can only read can take neither lock.
const (
	sqlShareUpdates = "LOCK TABLE updates IN ROW SHARE MODE"
	sqlStopUpdates  = "LOCK TABLE updates IN EXCLUSIVE MODE"
)

// begin begins the transaction of a group, locks what its updates name, and reads
// that ahead. It returns the number of the commit.
func (t *tx) begin(group []*engine.Update, reread bool) (commitNo int64, err error) {
	named := aheadOf(group, reread)
	lock := sqlShareUpdates
	if named.All {
		lock = sqlStopUpdates
	}
	var writer, last, clock []row
	lacking := 0
	queries := []query{
		{sql: sqlBegin}, {sql: sqlGroupLimits},
		newQuery(sqlHoldWriter, t.s.node.id).collect(&writer),
		newQuery(sqlCommitNo, t.s.node.id).collect(&last),
		{sql: lock},
	}
	var held []row
	if named.fenced {
		queries = append(queries, newQuery("SELECT name, token FROM leases WHERE node = $1", t.s.node.id).collect(&held))
	}
	queries = append(queries, named.locks(t.over, &lacking)...)
	queries = append(queries, newQuery(sqlLockedAt).collect(&clock))
	queries = append(queries, named.reads(t.over)...)
	err = t.run(queries...)
	if err != nil && len(writer) == 0 {
		return 0, fmt.Errorf("%w: %w", errNobody, err)
	}
	if err != nil {
		return 0, err
	}
	if len(writer) == 0 {
		t.err = t.s.replaced()
		return 0, t.err
	}
	if waited := readBigint(clock[0][1]); waited >= crowdedWait.Microseconds() && !t.s.node.alone() {
		t.s.crowded = time.Now()
	}
	if lacking > 0 {
		if clock, err = t.lockNew(&named); err != nil {
			return 0, err
		}
	}
	t.held = numbers(held)
	t.s.ids.follow(t.over.lastID)
	named.absent(t.over)
	commitNo = readBigint(last[0][0])
	t.s.doubts.look(commitNo)
	now := readTime(clock[0][0])
	t.s.setTime(now)
	if t.now = now; t.s.options.Now != nil {
		t.now = t.s.Now()
	}
	t.over.part = partOf(commitNo+1) + 1
	return commitNo + 1, nil
}

// lockNew locks orgs and users, some of which are new, and reads everything again.
func (t *tx) lockNew(named *ahead) (clock []row, err error) {
	t.over = newOverlay()
	queries := append(named.missing(), named.locks(t.over, new(int))...)
	queries = append(queries, newQuery(sqlClock).collect(&clock))
	err = t.run(append(queries, named.reads(t.over)...)...)
	return clock, err
}

// run runs one update, and reports whether it left something to commit. Its own
// failure concerns only itself; one of the database is in t.err.
func (s *Store) run(t *tx, u *engine.Update) (wrote bool) {
	if u.Err = u.Ctx.Err(); u.Err != nil {
		return false
	}
	if fenced(u) {
		if t.held[shardOf(u.Scope.Fence.Endpoint)] != u.Scope.Fence.Token {
			s.node.fenced(u.Scope.Fence)
			u.Err = store.Errorf(store.CodeFenced, "Another node sends to this endpoint by now.")
			return false
		}
		for _, id := range u.Scope.Deliveries {
			if c := s.node.claimOf(id); c.row != nil {
				t.over.claimed(deliveries, c.row, c.version)
				defer t.over.forget(deliveries, c.row)
			}
		}
	}
	t.over.begin()
	if s.options.Now != nil {
		t.now = s.Now()
	}
	changes := t.Changes
	t.lastID = ""
	if u.Err = engine.Recover(u.Fn, t.Tx); u.Err == nil {
		return t.over.wrote() || t.lastID != ""
	}
	t.Changes = changes
	t.over.rollback()
	return false
}

// commit sends what a group wrote, and commits it with its number. A group that only
// answered a request again commits too: the rows it read may have been committed without the
// standby that a commit waits for, and could be lost in a failover.
func (t *tx) commit(commitNo int64, began time.Time) error {
	queries := t.over.flushAll()
	queries = append(queries, t.s.node.publish(&t.Changes, &t.published)...)
	queries = append(queries, t.number(commitNo)...)
	err := t.run(append(queries, query{sql: "COMMIT"})...)
	if !ambiguous(err) {
		return notCommitted(err)
	}
	return t.s.resolve(doubt{t, commitNo}, began.Add(doubtTime), err)
}

// tell tells of a commit, here and on the other nodes.
func (s *Store) tell(t *tx) {
	s.recent.add(t.over.rows[events.place])
	s.Tell(&t.Changes)
	if !s.node.alone() {
		s.node.sayDue(t.Dues)
	}
}
