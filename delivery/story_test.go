package delivery

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"teamdata/delivery/mail"
	"teamdata/store"
)

// The disable rule from the first attempt to the drain, by the contract's
// schedule and clock: an endpoint that acknowledges nothing is disabled with
// the sixth attempt, after 781 minutes; its owners and admins get mail; what
// happens then is held; enabled again, it gets everything, in order.
func TestFromTheFirstFailureToTheDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.addManagers()
		start := time.Now()
		r := &switchedReceiver{}
		d := New(b.store, Config{Mailed: func() {}})
		var mailed []mail.Message
		m := NewMailer(b.store, nil, nil, d.config.Log)
		m.send = func(_ context.Context, message mail.Message) error {
			mailed = append(mailed, message)
			return nil
		}
		d.config.Mailed, d.send = m.Wake, r.send
		ctx, cancel := context.WithCancel(context.Background())
		var running sync.WaitGroup
		running.Go(func() { d.Run(ctx, ctx) })
		running.Go(func() { m.Run(ctx, ctx) })

		e := b.endpoint("https://receiver.example/hook")
		first := b.sendTest(e.ID)
		<-time.After(781*time.Minute - time.Second)
		if b.isDisabled(e.ID) {
			t.Fatal("the endpoint is disabled before the last attempt")
		}
		<-time.After(2 * time.Second)
		if !b.isDisabled(e.ID) || b.delivery(first.ID).State != store.StateFailed {
			t.Fatalf("after the last attempt the delivery is %s, and the endpoint disabled: %t", b.delivery(first.ID).State, b.isDisabled(e.ID))
		}
		if at := b.delivery(first.ID).FinishedAt.Sub(start); at < 781*time.Minute {
			t.Errorf("it failed after %s", at)
		}
		synctest.Wait()
		if to := recipients(mailed); !slices.Equal(to, []string{"ada@test.example", "bob@test.example"}) {
			t.Errorf("mail went to %v", to)
		}
		if why := mailed[0].Values["lastReason"]; why != "it is off" {
			t.Errorf("the mail says %q", why)
		}

		held := b.emitTo(e, 100)
		<-time.After(24 * time.Hour)
		if n := len(r.seen()); n != 6 {
			t.Errorf("%d attempts were made, of which %d of held deliveries", n, n-6)
		}
		r.on()
		b.update(func(tx store.Tx) error { return store.EnableEndpoint(tx, "", testOrg, e.ID) })
		<-time.After(time.Minute)
		got := r.seen()[6:]
		for i, id := range held { // in order, but for those in flight at the same time
			if at := slices.Index(got, id); at < 0 || at-i >= DefaultPerEndpoint || i-at >= DefaultPerEndpoint {
				t.Errorf("%s, number %d of what was held, came as number %d", id, i, at)
			}
		}
		if len(got) != len(held) {
			t.Errorf("%d were held, and %d attempts made", len(held), len(got))
		}
		if n, err := store.Recover(ctx, b.store, "", testOrg, e.ID, start); n != 1 || err != nil {
			t.Errorf("%d deliveries were recovered: %v", n, err)
		}
		<-time.After(time.Minute)
		if d := b.delivery(first.ID); d.State != store.StateAcknowledged || len(d.History) != 7 {
			t.Errorf("the recovered delivery is %s after %d attempts", d.State, len(d.History))
		}
		cancel()
		running.Wait()
		b.store.Close()
	})
}

// Mail that can't be sent is tried again later, and given up when it is no news
// any more; what can't ever be sent is given up at once.
func TestMailIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		start := time.Now()
		queue := func(id string) {
			b.update(func(tx store.Tx) error {
				return tx.PutMail(store.Mail{ID: id, OrgID: testOrg, To: id + "@test.example", CreatedAt: tx.Now(), DueAt: tx.Now()})
			})
		}
		nop := zerolog.Nop()
		m := NewMailer(b.store, nil, nil, &nop)
		tries := map[string][]time.Duration{}
		m.send = func(_ context.Context, message mail.Message) error {
			tries[message.ID] = append(tries[message.ID], time.Since(start))
			if message.ID == "mai_late" && len(tries[message.ID]) == 3 {
				return nil
			}
			return context.DeadlineExceeded
		}
		ctx, cancel := context.WithCancel(context.Background())
		var running sync.WaitGroup
		running.Go(func() { m.Run(ctx, ctx) })
		queue("mai_late")
		queue("mai_never")
		m.Wake()
		<-time.After(10 * 24 * time.Hour)
		cancel()
		running.Wait()
		if got, want := tries["mai_late"], []time.Duration{0, time.Minute, 6 * time.Minute}; !slices.Equal(got, want) {
			t.Errorf("tried after %v, not %v", got, want)
		}
		never := tries["mai_never"]
		if last := never[len(never)-1]; last > store.MailTTL || last < store.MailTTL-3*time.Hour {
			t.Errorf("tried for the last time after %s", last)
		}
		b.view(func(tx store.Tx) error {
			waiting, err := tx.Mails("", 9)
			if len(waiting) > 0 {
				t.Errorf("%d mails still wait", len(waiting))
			}
			return err
		})
		b.store.Close()
	})
}

// switchedReceiver refuses deliveries until it is on, and keeps the ids of
// those it got.
type switchedReceiver struct {
	mu   sync.Mutex
	isOn bool
	ids  []string
}

func (r *switchedReceiver) send(_ context.Context, _ *store.Endpoint, c *store.Claim) (store.Attempt, string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ids = append(r.ids, c.Delivery.ID)
	a := store.Attempt{StartedAt: time.Now(), EndedAt: time.Now(), Status: 204}
	if r.isOn {
		return a, "acknowledged"
	}
	a.Status, a.Reason = 0, "it is off"
	return a, "connect"
}

func (r *switchedReceiver) on() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.isOn = true
}

func (r *switchedReceiver) seen() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.ids)
}

func recipients(mails []mail.Message) (to []string) {
	for _, m := range mails {
		to = append(to, m.To)
	}
	slices.SortFunc(to, strings.Compare)
	return to
}

// addManagers gives the org an owner and an admin with addresses, an admin
// without, and a member.
func (b *bench) addManagers() {
	b.Helper()
	b.update(func(tx store.Tx) error {
		for _, m := range []store.Member{
			{UserID: "usr_ada", Role: store.RoleOwner, Name: "Ada", Email: "ada@test.example"},
			{UserID: "usr_bob", Role: store.RoleAdmin, Email: "bob@test.example"},
			{UserID: "usr_cy", Role: store.RoleAdmin},
			{UserID: "usr_dee", Role: store.RoleMember, Email: "dee@test.example"},
		} {
			m.OrgID = testOrg
			if _, err := store.ImportMember(tx, m); err != nil {
				return err
			}
		}
		return nil
	})
}

// emitTo uploads files, an event each to the endpoint, and returns the ids of
// the deliveries in order.
func (b *bench) emitTo(e store.Endpoint, n int) (ids []string) {
	b.Helper()
	b.update(func(tx store.Tx) (err error) {
		if e, err = tx.Endpoint(testOrg, e.ID); err != nil {
			return err
		}
		e.Events = []string{store.EventFileUploaded}
		return tx.PutEndpoint(e)
	})
	for range n {
		b.update(func(tx store.Tx) error {
			_, err := store.UploadFile(tx, "", store.File{OrgID: testOrg, Name: "a", ContentType: "b"})
			return err
		})
	}
	b.view(func(tx store.Tx) error {
		page, _, err := tx.DeliveryPage(e.Number, store.ListWaiting, store.Cursor{}, n+1)
		for _, d := range page {
			ids = append(ids, d.ID)
		}
		return err
	})
	return ids
}

func (b *bench) isDisabled(id string) (disabled bool) {
	b.Helper()
	b.view(func(tx store.Tx) error {
		e, err := tx.Endpoint(testOrg, id)
		disabled = e.Disabled()
		return err
	})
	return disabled
}

func (b *bench) view(fn func(store.Tx) error) {
	b.Helper()
	if err := b.store.View(context.Background(), fn); err != nil {
		b.Fatal(err)
	}
}
