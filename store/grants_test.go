package store_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/store"
)

// A model of an endpoint with a rate, where attempts begin at random moments of what two
// senders reserve, which now and then crash and forget what they did: no sliding period has
// more attempts than the rate, and none has to wait longer than a period since the last that
// may have begun.
func TestRate(t *testing.T) {
	for i, rate := range []string{"1/s", "10/s", "19/s", "1000/s", "7/min", "600/min", "1/h", "999/h", "999999/h"} {
		t.Run(rate, func(t *testing.T) {
			onBoth(t, func(s *subject) {
				m := newRateModel(s, rate, rand.New(rand.NewPCG(kit.Seed(t), uint64(i))))
				for range 300 {
					m.step()
				}
				if len(m.began) < 10 {
					s.Errorf("only %d attempts began", len(m.began))
				}
			})
		})
	}
}

type rateModel struct {
	*subject
	*rand.Rand
	endpoint store.Endpoint
	n        int
	per      time.Duration
	now      time.Time
	senders  [2]reserver
	began    []time.Time // to the millisecond, in their order
}

// reserver is what a sender remembers.
type reserver struct {
	latest store.Grant
	left   int
	begun  []store.Grant
}

func newRateModel(s *subject, rate string, r *rand.Rand) *rateModel {
	s.Seed()
	m := &rateModel{subject: s, Rand: r, endpoint: s.withRate(rate), now: epoch}
	m.n, m.per, _ = store.ParseRate(rate)
	return m
}

// withRate makes an endpoint.
func (s *subject) withRate(rate string) (e store.Endpoint) {
	s.Helper()
	s.Write(func(tx store.Tx) (err error) {
		e, err = store.ImportEndpoint(tx, store.Endpoint{OrgID: acme, URL: "https://paced.example/hook", Events: []string{"*"}, Sending: store.SendOptions{Rate: rate}})
		return err
	})
	return e
}

func (m *rateModel) step() {
	p := &m.senders[m.IntN(2)]
	switch m.IntN(10) {
	case 0:
		*p = reserver{} // it crashed
	case 1:
		m.now = m.now.Add(time.Duration(m.Int64N(int64(2 * m.per))))
	case 2, 3, 4:
		m.now = m.now.Add(time.Duration(m.Int64N(int64(m.per/time.Duration(m.n)) + 1)))
	default:
		m.now = m.now.Add(time.Duration(m.Int64N(int64(time.Millisecond))))
	}
	for p.left > 0 && m.now.Before(p.latest.To) && m.IntN(8) > 0 {
		m.begin(p)
	}
	if p.left == 0 || !m.now.Before(p.latest.To) {
		m.reserve(p)
	}
}

func (m *rateModel) begin(p *reserver) {
	at := m.now.Truncate(time.Millisecond)
	p.left--
	p.begun = append(p.begun, store.Grant{From: at, To: at.Add(time.Millisecond), N: 1})
	m.began = append(m.began, at)
	if i := len(m.began) - 1 - m.n; i >= 0 && at.Sub(m.began[i]) < m.per {
		m.Fatalf("%d attempts began within %s, up to %s", m.n+1, at.Sub(m.began[i]), at)
	}
	m.now = m.now.Add(time.Duration(m.Int64N(int64(100 * time.Microsecond))))
}

func (m *rateModel) reserve(p *reserver) {
	var r store.Reservation
	m.Write(func(tx store.Tx) (err error) {
		r, err = store.ReserveAttempts(tx, &m.endpoint, m.now, p.latest, p.begun)
		return err
	})
	switch {
	case r.Reserved.N > store.GrantSize(m.n):
		m.Fatalf("%d were reserved at once", r.Reserved.N)
	case len(r.Others) > 1000:
		m.Fatalf("%d grants are kept", len(r.Others))
	case r.Reserved.N == 0 && store.NextGrant(r.Others, m.n, m.per).Sub(m.now) > m.per+store.MaxGrantTime:
		m.Fatalf("the next may begin after %s", store.NextGrant(r.Others, m.n, m.per).Sub(m.now))
	}
	*p = reserver{latest: r.Reserved, left: r.Reserved.N}
}

// A clock that is set back by hours makes nobody wait longer than a period, and no time at
// which something was reserved is lost before.
func TestRateAfterClockSetBack(t *testing.T) { onBoth(t, testRateAfterClockSetBack) }

func testRateAfterClockSetBack(s *subject) {
	s.Seed()
	e := s.withRate("2/s")
	reserve := func(now time.Time) (n int, others []store.Grant) {
		s.Helper()
		s.Write(func(tx store.Tx) error {
			r, err := store.ReserveAttempts(tx, &e, now, store.Grant{}, nil)
			n, others = r.Reserved.N, r.Others
			return err
		})
		return n, others
	}
	for i, want := range []int{1, 1, 0} {
		n, _ := reserve(epoch)
		s.Equal(fmt.Sprint(i), n, want)
	}
	back := epoch.Add(-5 * time.Hour)
	n, others := reserve(back)
	s.Equal("set back", n, 0)
	next := store.NextGrant(others, 2, time.Second)
	s.Equal("the next", next, back.Add(2*time.Second))
	n, _ = reserve(next.Add(-time.Millisecond))
	s.Equal("before it", n, 0)
	n, _ = reserve(next)
	s.Equal("then", n, 1)
}

// WaitsForRate tells of what is due at an endpoint whose rate is used up, and of no other.
func TestWaitsForRate(t *testing.T) { onBoth(t, testWaitsForRate) }

func testWaitsForRate(s *subject) {
	s.Seed()
	e, now := s.withRate("1/min"), s.Clock.Now()
	waits := func(what string, now, want time.Time) {
		s.Helper()
		s.Read(func(tx store.Tx) error {
			e, err := tx.Endpoint(acme, e.ID)
			if err != nil {
				return err
			}
			at, err := store.WaitsForRate(tx, &e, now)
			s.Equal(what, at, want)
			return err
		})
	}
	s.sendTests(e.ID, 1)
	waits("nothing began", now, time.Time{})
	var r store.Reservation
	reserve := func(rule func(tx store.Tx) error) {
		s.Write(func(tx store.Tx) (err error) {
			if rule != nil {
				return rule(tx)
			}
			r, err = store.ReserveAttempts(tx, &e, now, r.Reserved, []store.Grant{{From: now, To: now, N: 1}})
			return err
		})
	}
	reserve(nil)
	waits("one may begin for 3 s", now, now.Add(time.Minute+3*time.Second))
	reserve(nil)
	waits("it began at once", now, now.Add(time.Minute))
	claims, err := s.Claim(s.Context(), e.Number, now, 1)
	if err != nil || len(claims.Claims) != 1 {
		s.Fatal(claims, err)
	}
	waits("the one that is due is under way", now, time.Time{})
	s.sendTests(e.ID, 1)
	waits("another one is due", now, now.Add(time.Minute))
	s.Release(claims.Claims[0].Delivery.ID)
	waits("it is back", now, now.Add(time.Minute))
	waits("a minute later", now.Add(time.Minute), time.Time{})
	waits("nothing is due", now.Add(-time.Minute), time.Time{})
	reserve(func(tx store.Tx) error { return store.DisableEndpoint(tx, ada, acme, e.ID) })
	waits("disabled", now, time.Time{})
	reserve(func(tx store.Tx) error {
		e, err := tx.Endpoint(acme, e.ID)
		e.DisabledAt, e.Sending.Rate = time.Time{}, ""
		if err != nil {
			return err
		}
		return tx.PutEndpoint(e)
	})
	waits("without a rate", now, time.Time{})
	reserve(nil)
	s.Equal("any number may begin", []any{r.Rate, r.Reserved.N}, []any{"", 0})
	reserve(func(tx store.Tx) error { return store.RemoveEndpoint(tx, ada, acme, e.ID) })
	s.refused("removed", store.CodeNotFound, func(tx store.Tx) error {
		return second(store.ReserveAttempts(tx, &e, now, store.Grant{}, nil))
	})
	s.sweep(day)
	if slices.Contains(s.Removed(), e.Number) {
		s.Error("it is not forgotten")
	}
}
