package delivery

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"teamdata/delivery/mail"
	"teamdata/store"
	"teamdata/store/boltstore"
	"teamdata/store/storetest"
)

// setClock is a wall clock that is set, while timers go on as they do.
type setClock struct{ by atomic.Int64 }

func (c *setClock) now() time.Time       { return time.Now().Add(time.Duration(c.by.Load())) }
func (c *setClock) set(by time.Duration) { c.by.Add(int64(by)) }

// newEnvWith is an environment whose store goes by a clock.
func newEnvWith(t testing.TB, clock *setClock) *env {
	env := newEnv(t)
	env.store.Close()
	s, err := boltstore.Open(env.path, boltstore.Options{Now: clock.now})
	if err != nil {
		t.Fatal(err)
	}
	env.store = storetest.Scoped(t, s)
	return env
}

// noNetwork is a network without receivers.
type noNetwork struct{}

func (noNetwork) RoundTrip(*http.Request) (*http.Response, error) { return nil, context.Canceled }

// runApart sends into noNetwork until stop.
func (env *env) runApart(clock *setClock) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	d := New(env.store, Config{Now: clock.now})
	d.SendThrough(noNetwork{})
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx, ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			env.Error(err)
		}
	}
}

func (env *env) attempted(t *testing.T, id, when string, want int) {
	t.Helper()
	synctest.Wait()
	if d := env.delivery(id); d.Attempts != want {
		t.Errorf("%s: %d attempts, not %d; the next is due at %s", when, d.Attempts, want, d.DueAt)
	}
}

// A clock that is set forward, as after a suspend, makes retries due. That is
// noticed within 30 seconds.
func TestClockIsSetForward(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := &setClock{}
		env := newEnvWith(t, clock)
		d := env.sendTest(env.endpoint("https://r.test").ID)
		stop := env.runApart(clock)
		pass(31*time.Minute + 30*time.Second)
		env.attempted(t, d.ID, "before", 4) // the next is due 125 minutes after the last
		clock.set(220 * time.Minute)
		pass(30 * time.Second)
		env.attempted(t, d.ID, "95 minutes after it was due", 5)
		stop()
		env.store.Close()
	})
}

// A clock that is set back lets nothing wait longer than the schedule has it,
// whether the dispatcher runs, is started later, or the endpoint is disabled
// meanwhile.
func TestClockIsSetBack(t *testing.T) {
	const back = -2 * 365 * 24 * time.Hour
	synctest.Test(t, func(t *testing.T) {
		clock := &setClock{}
		env := newEnvWith(t, clock)
		e := env.endpoint("https://r.test")
		retry := env.sendTest(e.ID)
		stop := env.runApart(clock)
		env.attempted(t, retry.ID, "before", 1)
		clock.set(back)
		pass(30*time.Second + time.Minute)
		env.attempted(t, retry.ID, "set back while it runs", 2)
		stop()

		queued := env.sendTest(e.ID)
		clock.set(back)
		stop = env.runApart(clock)
		env.attempted(t, queued.ID, "queued before a restart", 1)
		env.attempted(t, retry.ID, "right after the restart", 2)
		pass(5 * time.Minute)
		env.attempted(t, retry.ID, "5 minutes after the restart", 3)

		env.setDisabled(e.ID, true)
		clock.set(back)
		pass(time.Hour)
		env.setDisabled(e.ID, false)
		pass(25 * time.Minute)
		env.attempted(t, retry.ID, "25 minutes after it was enabled again", 4)
		stop()
		env.store.Close()
	})
}

func (env *env) setDisabled(endpointID string, disabled bool) {
	env.Helper()
	env.update(func(tx store.Tx) error {
		e, err := tx.Endpoint(testOrg, endpointID)
		if e.DisabledAt = (time.Time{}); disabled {
			e.DisabledAt = tx.Now()
		}
		if err != nil {
			return err
		}
		return tx.PutEndpoint(e)
	})
}

// Mail, too, waits for the clock as it is.
func TestMailGoesByTheClock(t *testing.T) {
	for name, by := range map[string]time.Duration{"forward": 150 * time.Minute, "back": -1000 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clock := &setClock{}
				env := newEnvWith(t, clock)
				env.update(func(tx store.Tx) error {
					return tx.PutMail(store.Mail{ID: "mai_1", OrgID: testOrg, To: "ada@test.example", CreatedAt: tx.Now(), DueAt: tx.Now()})
				})
				nop := zerolog.Nop()
				m := NewMailer(env.store, nil, nil, time.Now, &nop)
				m.now = clock.now
				tries := 0
				m.send = func(context.Context, mail.Message) error { tries++; return context.DeadlineExceeded }
				ctx, cancel := context.WithCancel(context.Background())
				ended := make(chan struct{})
				go func() { defer close(ended); m.Run(ctx, ctx) }()
				pass(40 * time.Minute)
				before := tries // the next is due two hours after the last
				clock.set(by)
				pass(30 * time.Second)
				if tries != before+1 {
					t.Errorf("%d tries before and %d after", before, tries)
				}
				cancel()
				<-ended
				env.store.Close()
			})
		})
	}
}
