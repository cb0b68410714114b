package delivery

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"teamdata/delivery/mail"
	"teamdata/store"
)

// forgetful is a store that loses the answer of the first commits after they are
// there.
type forgetful struct {
	store.Store
	loses, asked int
}

func (s *forgetful) Update(ctx context.Context, scope store.Scope, fn func(store.Tx) error) error {
	err := s.Store.Update(ctx, scope, fn)
	if s.asked++; s.asked <= s.loses {
		return errors.Join(err, store.Unavailable(errors.New("it is unknown whether the commit succeeded")))
	}
	return err
}

// The outcome of a mail whose commit succeeded, and was said to have failed, is written
// once: the mail is sent no second time, and its next attempt comes when it is due.
func TestMailOutcomeInDoubt(t *testing.T) {
	for name, row := range map[string]struct {
		errors []error // of each attempt
		tries  []time.Duration
	}{
		"sent":              {[]error{nil}, []time.Duration{0}},
		"sent at last":      {[]error{context.DeadlineExceeded, nil}, []time.Duration{0, time.Minute}},
		"no longer of use":  {[]error{store.Errorf(store.CodeConflict, "too late")}, []time.Duration{0}},
		"put off and again": {[]error{context.DeadlineExceeded, context.DeadlineExceeded, nil}, []time.Duration{0, time.Minute, 6 * time.Minute}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				env := newEnv(t)
				env.update(func(tx store.Tx) error {
					return tx.PutMail(store.Mail{ID: "mai_1", OrgID: testOrg, To: "a@test.example", CreatedAt: tx.Now(), DueAt: tx.Now()})
				})
				nop := zerolog.Nop()
				s := &forgetful{Store: env.store, loses: 3}
				m := NewMailer(s, nil, nil, time.Now, &nop)
				start := time.Now()
				var tries []time.Duration
				m.send = func(context.Context, mail.Message) error {
					tries = append(tries, time.Since(start))
					return row.errors[min(len(tries), len(row.errors))-1]
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				m.Run(ctx, ctx)
				if s.asked < s.loses {
					t.Errorf("%d commits were asked for", s.asked)
				}
				if len(tries) != len(row.tries) || !slices.EqualFunc(tries, row.tries, func(got, want time.Duration) bool { return got >= want && got < want+10*time.Second }) {
					t.Errorf("tried after %v, not %v", tries, row.tries)
				}
				if n := env.waitingMails(); n > 0 {
					t.Errorf("%d mails still wait", n)
				}
				env.store.Close()
			})
		})
	}
}

// A node that was taken for lost while it sent a mail brings none back that another one
// has sent, and counts no attempt twice.
func TestMailOutcomeOfALostNode(t *testing.T) {
	env := newEnv(t)
	nop := zerolog.Nop()
	waiting := store.Mail{ID: "mai_1", OrgID: testOrg, To: "a@test.example", CreatedAt: time.Now(), DueAt: time.Now()}
	other := NewMailer(env.store, nil, nil, time.Now, &nop)
	lost := NewMailer(env.store, nil, nil, time.Now, &nop)
	for name, row := range map[string]struct {
		other, lost error
		waits       int
	}{
		"the other one has sent it": {nil, context.DeadlineExceeded, 0},
		"both have sent it":         {nil, nil, 0},
		"it has sent it":            {context.DeadlineExceeded, nil, 0},
		"neither could":             {context.DeadlineExceeded, context.DeadlineExceeded, 1},
	} {
		env.update(func(tx store.Tx) error { return tx.PutMail(waiting) })
		other.send = func(context.Context, mail.Message) error { return row.other }
		lost.send = func(ctx context.Context, _ mail.Message) error {
			other.attempt(ctx, waiting)
			return row.lost
		}
		lost.attempt(t.Context(), waiting)
		env.view(func(tx store.Tx) error {
			mails, err := tx.Mails("", 9)
			if len(mails) != row.waits || row.waits > 0 && mails[0].Attempts != 1 {
				t.Errorf("%s: %+v wait", name, mails)
			}
			return err
		})
	}
}
