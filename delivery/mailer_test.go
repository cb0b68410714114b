package delivery

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"teamdata/delivery/mail"
	"teamdata/store"
)

// Mail that can't be sent is tried again later, until it is too old.
func TestMailIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		start := time.Now()
		queue := func(id string) {
			env.update(func(tx store.Tx) error {
				return tx.PutMail(store.Mail{ID: id, OrgID: testOrg, To: id + "@test.example", CreatedAt: tx.Now(), DueAt: tx.Now()})
			})
		}
		nop := zerolog.Nop()
		m := NewMailer(env.store, nil, nil, time.Now, &nop)
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
		env.view(func(tx store.Tx) error {
			waiting, err := tx.Mails("", 9)
			if len(waiting) > 0 {
				t.Errorf("%d mails still wait", len(waiting))
			}
			return err
		})
		env.store.Close()
	})
}

// Mail of an org that was deleted is not sent any more.
func TestMailOfADeletedOrg(t *testing.T) {
	env := newEnv(t)
	env.update(func(tx store.Tx) error {
		for id, org := range map[string]string{"mai_org": testOrg, "mai_operator": ""} {
			if err := tx.PutMail(store.Mail{ID: id, OrgID: org, To: "a@test.example", CreatedAt: tx.Now(), DueAt: tx.Now()}); err != nil {
				return err
			}
		}
		return store.DeleteOrg(tx, testOrg)
	})
	nop := zerolog.Nop()
	m := NewMailer(env.store, nil, nil, time.Now, &nop)
	var sent []string
	m.send = func(_ context.Context, message mail.Message) error {
		sent = append(sent, message.ID)
		return nil
	}
	m.sendDue(t.Context(), t.Context())
	if n := env.waitingMails(); n > 0 || !slices.Equal(sent, []string{"mai_operator"}) {
		t.Errorf("%v were sent, and %d still wait", sent, n)
	}
}

// A sign-in link is made when its mail is sent, and expires when the request
// said, however often the mail was tried. A link that would come too late, or whose
// recipient manages the org no more, is not sent.
func TestMailOfASignInLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		env.addManagers()
		nop := zerolog.Nop()
		m := NewMailer(env.store, nil, nil, time.Now, &nop)
		var tokens []string
		m.send = func(_ context.Context, message mail.Message) error {
			tokens = append(tokens, message.Values["token"])
			return context.DeadlineExceeded
		}
		ctx, cancel := context.WithCancel(context.Background())
		var running sync.WaitGroup
		running.Go(func() { m.Run(ctx, ctx) })
		env.queueLink(t, "usr_ada")
		env.queueLink(t, "usr_bob")
		m.Wake()
		pass(2 * time.Minute)
		if len(tokens) != 4 {
			t.Fatalf("%d mails were tried", len(tokens))
		}
		member := store.RoleMember
		env.update(func(tx store.Tx) error {
			_, err := store.ChangeMember(tx, "", testOrg, "usr_bob", store.MemberChange{Role: &member})
			return err
		})
		pass(10 * time.Minute)
		if len(tokens) != 5 {
			t.Errorf("%d mails were tried after one's reader was demoted", len(tokens))
		}
		env.view(func(tx store.Tx) error {
			l, err := store.FindSignInLink(tx, tokens[4])
			if left := l.ExpiresAt.Sub(tx.Now()); err != nil || l.UserID != "usr_ada" || left <= 0 || left > time.Hour-10*time.Minute {
				t.Errorf("the last link is %+v, %v", l, err)
			}
			return nil
		})
		pass(3 * time.Hour)
		if env.waitingMails() != 0 {
			t.Error("mail whose time is over still waits")
		}
		cancel()
		running.Wait()
		env.store.Close()
	})
}

// pass lets time pass, until all that is due by then is done.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func (env *env) queueLink(t *testing.T, userID string) {
	t.Helper()
	env.update(func(tx store.Tx) error {
		_, err := store.QueueSignInLink(tx, testOrg, userID, time.Hour)
		return err
	})
	env.view(func(tx store.Tx) error {
		waiting, err := tx.Mails("", 9)
		for _, m := range waiting {
			if m.Values["token"] != "" {
				t.Error("a token waits in the store")
			}
		}
		return err
	})
}

func (env *env) waitingMails() (n int) {
	env.view(func(tx store.Tx) error {
		waiting, err := tx.Mails("", 9)
		n = len(waiting)
		return err
	})
	return n
}
