package pgstore

import (
	"context"
	"errors"
	"time"

	"teamdata/store"
)

// A node has what it took for leaseTime after its last heartbeat: by the monotonic clock
// of each, for the others since they saw it, for itself since before it asked.
const (
	leaseTime = 6 * time.Second
	beatEvery = 2 * time.Second
	beatTime  = 1500 * time.Millisecond // for its answers
	// startMargin is how long before the end of a lease its last attempt starts.
	startMargin = time.Second
	// wrongTime is how long a node's clock is wrong before the node leaves the endpoints to
	// others. After the database's clock was set, that of each is, as each finds out by then.
	wrongTime = 2 * leaseTime
	// forgetAfter is how long a node that is no longer seen is kept.
	forgetAfter = time.Hour
)

// nudge makes the next heartbeat come at once.
func (n *node) nudge() { wake(n.nudged) }

// wake gives a channel its token, unless it has that already.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// beats keeps the node among those that are seen, until the store is closed.
func (n *node) beats() {
	timer := time.NewTimer(beatEvery)
	defer timer.Stop()
	for {
		select {
		case <-n.running.Done():
			return
		case <-n.nudged:
		case <-timer.C:
		}
		again, err := n.beat()
		if err == errReplaced {
			_ = n.replaced()
			return
		}
		timer.Reset(again)
	}
}

// beat says that the node is there, takes and gives up what it should, and announces
// what is due in what is new to it. It returns when the next one is due at the latest.
func (n *node) beat() (again time.Duration, err error) {
	if err := n.lockLeases(n.life); err != nil {
		return beatTime / 3, err
	}
	defer n.unlockLeases()
	ctx, cancel := context.WithTimeout(n.life, beatTime)
	defer cancel()
	asked := rightNow()
	given, offset := n.giveUp(), n.clock.ClockOffset()
	seen, err := n.say(ctx, offset, given)
	if err != nil {
		return beatTime / 3, err
	}
	n.clock.setTime(seen.now)
	n.sight.note(asked.at, seen.nodes)
	n.judgeClock(offset)
	lapsed := n.confirm(asked, &seen)
	n.checkStopped()
	if len(given) > 0 {
		n.hints.say(hintNodes)
	}
	mine, gained := n.shareOut(&seen)
	taken, err := n.take(ctx, mine)
	if gained = append(gained, taken...); lapsed {
		gained = shardNames[:]
	}
	if len(gained) > 0 {
		n.announce(ctx, gained)
	}
	if again = n.next(&seen); err != nil {
		again = min(again, beatTime/3)
	}
	return again, err
}

// census is what a heartbeat reads.
type census struct {
	now    time.Time
	nodes  []row // id, seen_at, state, clock_offset
	leases []row // name, node, token
}

var errReplaced = errors.New("the database no longer knows this node")

// say writes the heartbeat, gives leases up, and reads who else is there, and who has
// what.
func (n *node) say(ctx context.Context, offset time.Duration, given []string) (seen census, err error) {
	n.mu.Lock()
	state := n.state
	n.mu.Unlock()
	var self, clock []row
	queries := []query{
		{sql: sqlBegin}, {sql: sqlShortLimits},
		newQuery("UPDATE nodes SET seen_at = "+sqlNow+", state = $2, clock_offset = $3 WHERE id = $1 RETURNING 1::bigint",
			n.id, state, int(offset.Milliseconds())).collect(&self),
	}
	if lost := n.sight.lost(); len(lost) > 0 {
		queries = append(queries, forgetNodes("seen_at < "+sqlNow+" - $1 AND "+sqlLost("$2"), int(forgetAfter.Milliseconds()), lost)...)
	}
	if len(given) > 0 {
		queries = append(queries, n.givingUp(given)...)
	}
	queries = append(queries,
		newQuery(sqlClock).collect(&clock),
		newQuery("SELECT id, seen_at, state, clock_offset FROM nodes").collect(&seen.nodes),
		newQuery("SELECT name, node, token FROM leases").collect(&seen.leases),
		query{sql: "COMMIT"})
	switch err = n.conns.run(ctx, queries...); {
	case err != nil:
		return seen, err
	case len(self) == 0:
		return seen, errReplaced
	}
	seen.now = readTime(clock[0][0])
	return seen, nil
}

// judgeClock notes since when the node's clock is too far from the database's.
func (n *node) judgeClock(offset time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case offset.Abs() <= store.MaxClockOffset:
		n.wrongSince = time.Time{}
	case n.wrongSince.IsZero():
		n.wrongSince = time.Now()
	}
}

// sharing are the nodes that share the endpoints out among them: those whose clocks are
// right, or all if that is true of none.
func (n *node) sharing(seen *census) (ids []string) {
	var wrong []string
	for _, r := range seen.nodes {
		id := string(r[0])
		if string(r[2]) != store.NodeRunning || !n.sight.has(id) {
			continue
		}
		off := (time.Duration(readBigint(r[3])) * time.Millisecond).Abs() > store.MaxClockOffset
		if id == n.id {
			off = !n.wrongSince.IsZero() && time.Since(n.wrongSince) >= wrongTime
		}
		if off {
			wrong = append(wrong, id)
		} else {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return wrong
	}
	return ids
}

// confirm notes what the node has, by a heartbeat that was asked for at a time. That may
// be more than it knows of: a lease whose taking was not answered. lapsed: it did not have
// all of it for a while, in which it let work lie.
func (n *node) confirm(asked moment, seen *census) (lapsed bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	lapsed = n.lapsed()
	n.asked, n.others, n.before = asked, 0, 0
	n.lapsing.Reset(time.Until(n.lapses()))
	for _, r := range seen.nodes {
		if id := string(r[0]); id != n.id && string(r[2]) != nodeCommand && n.sight.has(id) {
			if n.others++; id < n.id {
				n.before++
			}
		}
	}
	mine := map[string]uint64{}
	for _, r := range seen.leases {
		if string(r[1]) == n.id {
			mine[string(r[0])] = readUnsigned(r[2])
		}
	}
	for name, token := range n.held {
		if mine[name] != token {
			n.lose(name)
		}
	}
	for name, token := range mine {
		if n.held[name] == 0 {
			n.held[name], lapsed = token, true
		}
	}
	return lapsed
}

// lapses is when the node stops to rely on what it has, unless it is seen again.
func (n *node) lapses() time.Time { return n.asked.at.Add(n.lease - startMargin) }

// lapsed reports whether it has stopped to, or may have been suspended beyond that.
func (n *node) lapsed() bool { return n.asked.atMost() >= n.lease-startMargin }

// lose forgets a lease, and ends the job under it.
func (n *node) lose(name string) {
	delete(n.held, name)
	delete(n.leaving, name)
	if j := n.jobs[name]; j != nil {
		j.end()
	}
}

// fenced notes that an endpoint's shard is another node's, as an outcome under a token was
// told: no attempt under it is worth its request any more.
func (n *node) fenced(f store.Fence) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if shard := shardOf(f.Endpoint); n.held[shard] == f.Token {
		n.lose(shard)
		n.nudge()
	}
}

// endLapsed ends the jobs under leases that the node can't rely on any more.
func (n *node) endLapsed() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.lapsed() {
		return
	}
	for _, j := range n.jobs {
		j.end()
	}
}

// next is when the next heartbeat is due: as soon as a node that is not seen again loses
// what it has, or a shard is to be given up.
func (n *node) next(seen *census) time.Duration {
	next := beatEvery
	for _, r := range seen.nodes {
		if left := leaseTime - n.sight.unseen(string(r[0])); left > 0 {
			next = min(next, left+10*time.Millisecond)
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for shard := range n.leaving {
		if n.inFlight[shard] == 0 {
			return 0
		}
	}
	return next
}
