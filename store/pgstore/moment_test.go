package pgstore

import (
	"context"
	"testing"
	"time"

	"teamdata/e2e/kit"
)

// TestSuspended: a node whose machine was suspended, or paused with all that runs on it,
// relies on nothing that it had before, although its monotonic clock knows of nothing.
func TestSuspended(t *testing.T) {
	t.Parallel()
	database := WithTables(t)
	for name, sleep := range map[string]func(*moment){
		"suspended": func(m *moment) { m.suspended -= time.Minute },
		"paused":    func(m *moment) { m.wall = m.wall.Add(-time.Minute) },
	} {
		one := steer(t, database, "one")
		one.node.lease = leaseTime
		one.beats(1)
		endpoint := uint64(1)
		if _, has := one.claim(endpoint); !has || !one.node.known.trusted() {
			t.Fatal("it does not rely on what it has")
		}
		held, err := one.Hold(bg, "job", func(ctx context.Context) error {
			sleep(&one.node.asked)
			sleep(&one.node.known.asked)
			one.node.endLapsed()
			select {
			case <-ctx.Done():
			case <-time.After(2 * time.Second):
				t.Errorf("%s: its job goes on", name)
			}
			return nil
		})
		if !held || err != nil {
			t.Fatal(held, err)
		}
		if _, has := one.claim(endpoint); has {
			t.Errorf("%s: it claims", name)
		}
		if one.node.known.trusted() {
			t.Errorf("%s: it trusts what it kept", name)
		}
		if held, err := one.Hold(bg, "other", func(context.Context) error { return nil }); held || err != nil {
			t.Errorf("%s: it begins a job: %v, %v", name, held, err)
		}
		one.beats(1)
		if _, has := one.claim(endpoint); !has {
			t.Errorf("%s: it does not claim again", name)
		}
		kit.Must(t, one.Close())
	}
}

// The database's clock goes on while the machine is suspended, and does not follow the
// machine's own.
func TestClockGoesOn(t *testing.T) {
	for want, sleep := range map[time.Duration]func(*moment){
		time.Minute: func(m *moment) { m.suspended -= time.Minute },
		0:           func(m *moment) { m.wall = m.wall.Add(-time.Minute) },
	} {
		var s Store
		s.setTime(time.Now())
		sleep(&s.clock.Load().at)
		if ahead := time.Until(s.Now()).Round(time.Second); ahead != want {
			t.Errorf("it went on by %v, not %v", ahead, want)
		}
	}
}
