package delivery

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"teamdata/store"
)

// The figures in this file are written out: they are what receivers and operators were
// told, and a constant that changes fails a test.

func TestFigures(t *testing.T) {
	c := Config{}.withDefaults()
	network := newTransport(c, nil)
	for what, figure := range map[string][2]any{
		"an attempt":                         {c.AttemptTimeout, 15 * time.Second},
		"attempts at an endpoint":            {c.PerEndpoint, 32},
		"attempts in all":                    {c.Total, 2048},
		"connections that wait":              {network.MaxIdleConns, 2048},
		"those of a host":                    {network.MaxIdleConnsPerHost, 2048},
		"a handshake":                        {network.TLSHandshakeTimeout, 16 * time.Second},
		"a connection that waits":            {network.IdleConnTimeout, 90 * time.Second},
		"bytes of an answer's headers":       {network.MaxResponseHeaderBytes, int64(16 << 10)},
		"bytes of an answer that are read":   {maxAnswer, 16 << 10},
		"an answer's body":                   {maxAnswerTime, time.Second},
		"characters of a reason":             {maxReason, 300},
		"a look at the clock":                {untilLook(time.Time{}, time.Time{}.Add(time.Hour)), 30 * time.Second},
		"a look at the clock for what's due": {untilLook(time.Time{}, time.Time{}.Add(time.Minute/4)), 15 * time.Second},
	} {
		if figure[0] != figure[1] {
			t.Errorf("%s: %v, not %v", what, figure[0], figure[1])
		}
	}
}

// The pauses of a shortage are 1, 2, 4, 8 and 16 s, and then 30 s each; the next
// shortage begins anew.
func TestShortPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s short
		log := zerolog.Nop()
		for _, want := range []time.Duration{1, 2, 4, 8, 16, 30, 30, 0, 1} {
			s.note(&result{short: want > 0}, &log)
			if got := max(time.Until(s.until), 0); got != want*time.Second {
				t.Errorf("a pause of %s, not of %d s", got, want)
			}
			s.note(&result{}, &log) // began before it
			time.Sleep(want * time.Second)
		}
	})
}

// broken is a store that fails some times, and then, which may be with another error.
type broken struct {
	store.Store
	fails int
	then  error
}

var errBroken = errors.New("the disk is full")

func (b *broken) OnDue(func(uint64, time.Time)) {}

func (b *broken) Claim(context.Context, uint64, time.Time, int) (store.Claims, error) {
	return store.Claims{}, errBroken
}

func (b *broken) Update(context.Context, store.Scope, func(store.Tx) error) error {
	if b.fails--; b.fails < 0 {
		return b.then
	}
	return errBroken
}

// What could not be read or written is tried again after a second, unless it is about
// what was deleted meanwhile.
func TestStorePauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := zerolog.Nop()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for _, then := range []error{nil, store.Errorf(store.CodeNotFound, "It was deleted.")} {
			start := time.Now()
			lost := record(ctx, &broken{fails: 2, then: then}, &log, store.All, nil)
			if took := time.Since(start); lost || took != 2*time.Second {
				t.Errorf("lost is %t, after %s and %v", lost, took, then)
			}
		}
		d := New(&broken{}, Config{Log: &log})
		now := time.Now()
		d.claim(t.Context(), d.queue(1), now)
		for nanosecond, want := range []int{0, 1} {
			due, after := 0, time.Second-1+time.Duration(nanosecond)
			d.wheel.Expire(now.Add(after), func(uint64) { due++ })
			if due != want {
				t.Errorf("%s after a claim that failed, %d are due", after, due)
			}
		}
	})
}

// 64 idle goroutines are kept for attempts, and no more.
func TestIdleWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ready := make(chan struct{})
		w := workers{run: func(job) { <-ready }, jobs: make(chan job)}
		for range 70 {
			w.start(job{})
		}
		close(ready)
		synctest.Wait()
		if got := w.idle.Load(); got != 64 {
			t.Errorf("%d are kept", got)
		}
		w.wait()
	})
}

// 10,000 endpoints are remembered, and one more makes them forgotten.
func TestTargetsAreBounded(t *testing.T) {
	var ts targets
	for number := range uint64(10_001) {
		if len(ts.parsed) != int(number) {
			t.Fatalf("%d are remembered of %d", len(ts.parsed), number)
		}
		if _, err := ts.of(&store.Endpoint{Number: number, URL: "https://a.example/", Secret: "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="}); err != nil {
			t.Fatal(err)
		}
	}
	if len(ts.parsed) != 1 {
		t.Errorf("%d are remembered of one more than the most", len(ts.parsed))
	}
}
