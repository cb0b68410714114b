package delivery_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"syscall"
	"time"
)

// character is how a receiver behaves.
type character struct {
	kind     string
	failing  float64       // how much of what it gets a flaky or a lossy one fails
	from, to time.Duration // when an absent one is absent, since the world began
	beat     time.Duration // it answers in whole ones of these, often several at once
}

const (
	healthy = "healthy" // answers within milliseconds
	slow    = "slow"    // answers within seconds
	flaky   = "flaky"   // fails at times
	lossy   = "lossy"   // takes what it gets, and its answers are lost at times
	absent  = "absent"  // is there but for a span of time
	dead    = "dead"    // is never there
	hanging = "hanging" // never answers
)

func newCharacter(r *rand.Rand) character {
	c := character{kind: pick(r, []string{healthy, healthy, slow, flaky, flaky, lossy, absent, absent, dead, hanging})}
	c.failing = pick(r, []float64{0.1, 0.4, 0.8})
	c.from = upTo(r, 20*time.Hour)
	c.to = c.from + upTo(r, 40*time.Hour)
	c.beat = pick(r, []time.Duration{time.Microsecond, 5 * time.Millisecond})
	return c
}

// answer is what becomes of a request.
type answer struct {
	after   time.Duration
	taken   bool  // the receiver got all of it
	fault   error // instead of an answer
	status  int
	trickle time.Duration // between the parts of the answer's body
}

func (a answer) String() string {
	if a.fault != nil {
		return fmt.Sprintf("%v after %s, taken: %t", a.fault, a.after, a.taken)
	}
	return fmt.Sprintf("%d after %s", a.status, a.after)
}

const forever = time.Hour // longer than any deadline

// answer decides by the seed, the endpoint and how many requests that got, and
// not by what else goes on.
func (e *endpoint) answer(seed uint64, age time.Duration) answer {
	r := rand.New(rand.NewPCG(seed, e.number<<32|e.requests))
	well := answer{after: upTo(r, 10*time.Millisecond).Truncate(e.character.beat), taken: true, status: pick(r, []int{200, 202, 204})}
	switch e.character.kind {
	case slow:
		well.after = upTo(r, 4*time.Second)
	case flaky:
		if r.Float64() < e.character.failing {
			return failure(r)
		}
		well.trickle = pick(r, []time.Duration{0, 0, time.Second, forever})
	case lossy:
		if r.Float64() < e.character.failing {
			return lost(r)
		}
	case absent:
		if e.character.from <= age && age < e.character.to {
			return failure(r)
		}
	case dead:
		return failure(r)
	case hanging:
		return answer{after: forever}
	}
	return well
}

// failure is one of the ways in which an attempt fails.
func failure(r *rand.Rand) answer {
	switch r.IntN(6) {
	case 0:
		return answer{status: pick(r, []int{500, 503, 404, 301}), after: upTo(r, 10*time.Millisecond)}
	case 1:
		return answer{status: 500, after: upTo(r, 14*time.Second), trickle: upTo(r, 2*time.Second)}
	case 2:
		return answer{after: forever, taken: r.IntN(2) == 0}
	case 3:
		return answer{fault: io.EOF, after: upTo(r, time.Second), taken: r.IntN(2) == 0}
	}
	return answer{fault: syscall.ECONNREFUSED}
}

// lost is an answer that does not come back.
func lost(r *rand.Rand) answer {
	if r.IntN(2) == 0 {
		return answer{after: forever, taken: true}
	}
	return answer{fault: syscall.ECONNRESET, after: upTo(r, time.Second), taken: true}
}
