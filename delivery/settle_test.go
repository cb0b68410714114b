package delivery

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"teamdata/delivery/mail"
	"teamdata/store"
)

// After a clock was moved, Settle returns when all that is due has been sent and
// recorded, and not earlier.
func TestSettle(t *testing.T) {
	clock := &setClock{}
	env := newEnvWith(t, clock)
	e := env.endpoint("https://r.test")
	d := New(env.store, Config{Now: clock.now})
	d.SendThrough(noNetwork{})
	env.running(func(ctx context.Context) { d.Run(ctx, ctx) })
	settle := func() {
		t.Helper()
		if err := d.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	settle()
	var ids []string
	for range 3 {
		ids = append(ids, env.sendTest(e.ID).ID)
	}
	settle()
	for i, step := range store.DefaultRetrySchedule {
		for _, id := range ids {
			if n := env.delivery(id).Attempts; n != i+1 {
				t.Fatalf("%d attempts were made, not %d", n, i+1)
			}
		}
		clock.set(step + time.Second)
		settle()
	}
	if d := env.delivery(ids[0]); d.State != store.StateFailed || !env.isDisabled(e.ID) {
		t.Errorf("it is %s after %d attempts", d.State, d.Attempts)
	}
}

func TestSettleWaitsForAttempts(t *testing.T) {
	env := newEnv(t)
	d := New(env.store, Config{})
	begun, end := make(chan struct{}), make(chan struct{})
	d.send = func(context.Context, *store.Endpoint, *store.Claim) (store.Attempt, string) {
		close(begun)
		<-end
		return store.Attempt{StartedAt: time.Now(), EndedAt: time.Now(), Status: 204}, Outcomes[0]
	}
	env.running(func(ctx context.Context) { d.Run(ctx, ctx) })
	id := env.sendTest(env.endpoint("https://r.test").ID).ID
	<-begun
	short, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := d.Settle(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("with an attempt in flight it returned %v", err)
	}
	settled := make(chan error, 1)
	go func() { settled <- d.Settle(t.Context()) }()
	close(end)
	if err := <-settled; err != nil || env.delivery(id).State != store.StateAcknowledged {
		t.Errorf("it returned %v, and the delivery is %s", err, env.delivery(id).State)
	}
}

func TestSettleMail(t *testing.T) {
	clock := &setClock{}
	env := newEnvWith(t, clock)
	nop := zerolog.Nop()
	m := NewMailer(env.store, nil, nil, clock.now, &nop)
	if err := m.Settle(t.Context()); err != nil { // without a sender nothing is due, whether it runs or not
		t.Error(err)
	}
	tries := 0
	m.send = func(context.Context, mail.Message) error { tries++; return context.DeadlineExceeded }
	env.update(func(tx store.Tx) error {
		return tx.PutMail(store.Mail{ID: "mai_1", OrgID: testOrg, To: "ada@test.example", CreatedAt: tx.Now(), DueAt: tx.Now()})
	})
	env.running(func(ctx context.Context) { m.Run(ctx, ctx) })
	for want := 1; want <= 3; want++ {
		if err := m.Settle(t.Context()); err != nil || tries != want {
			t.Fatalf("tried %d times, not %d: %v", tries, want, err)
		}
		clock.set(store.DefaultMailSchedule[want-1] + time.Second)
	}
	short, cancel := context.WithCancel(t.Context())
	cancel()
	if err := m.Settle(short); err == nil {
		t.Error("it settled after its context was done")
	}
}

// running runs a loop until the test ends.
func (env *env) running(run func(context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { run(ctx) })
	env.Cleanup(func() {
		cancel()
		running.Wait()
	})
}
