package pgstore

import (
	"slices"
	"strconv"
	"sync"
	"time"
)

// sight is how long a node has not seen the others change their heartbeats, by its own
// monotonic clock: the database's, which they write, may be set. Time in which the
// database did not answer does not count, since nobody could write a heartbeat then.
type sight struct {
	mu    sync.Mutex
	asked time.Time           // when the last look began
	nodes map[string]*sighted // by id
}

// sighted is a node that was seen.
type sighted struct {
	at    int64     // its last heartbeat, by the database's clock
	since time.Time // the look that found it ended then, or later by what does not count
	beats bool      // an earlier one was seen too
}

// maxUnseen is how much of the time between two looks counts.
const maxUnseen = beatEvery

// note notes the rows of nodes: their ids and heartbeats, as a look found them that
// began at a time and has ended now.
func (s *sight) note(asked time.Time, nodes []row) {
	s.mu.Lock()
	defer s.mu.Unlock()
	skipped := max(asked.Sub(s.asked)-maxUnseen, 0)
	s.asked = asked
	earlier := s.nodes
	s.nodes = make(map[string]*sighted, len(nodes))
	for _, r := range nodes {
		id, at := string(r[0]), readBigint(r[1])
		n, known := earlier[id]
		if known && n.at == at {
			n.since = n.since.Add(skipped)
		} else {
			n = &sighted{at, time.Now(), known}
		}
		s.nodes[id] = n
	}
}

// unseen is how long a node has not changed its heartbeat; 0: it is not known.
func (s *sight) unseen(id string) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.nodes[id]
	if n == nil {
		return 0
	}
	return s.asked.Sub(n.since)
}

// has reports whether a node has what it took, as far as that can be told.
func (s *sight) has(id string) bool { return s.unseen(id) < leaseTime }

// saw reports whether a node was seen to go on.
func (s *sight) saw(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.nodes[id]
	return n != nil && n.beats
}

// lost are the nodes that were not seen for too long, each with its last heartbeat, for
// sqlLost.
func (s *sight) lost() (beats []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, n := range s.nodes {
		if s.asked.Sub(n.since) >= leaseTime {
			beats = append(beats, id+" "+strconv.FormatInt(n.at, 10))
		}
	}
	slices.Sort(beats)
	return beats
}

// sqlLost is the condition that a node is among those that a parameter says are lost,
// and was not seen since.
func sqlLost(parameter string) string {
	return "nodes.id || ' ' || nodes.seen_at = ANY(" + parameter + ")"
}
