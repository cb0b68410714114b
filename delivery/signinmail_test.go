package delivery

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"teamdata/delivery/mail"
	"teamdata/store"
)

// A sign-in link is made when its mail is sent, and ends when it was said to,
// however often the mail was tried. One that comes too late, or whose reader
// manages nothing any more, is not sent.
func TestMailOfASignInLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.addManagers()
		nop := zerolog.Nop()
		m := NewMailer(b.store, nil, nil, &nop)
		var tokens []string
		m.send = func(_ context.Context, message mail.Message) error {
			tokens = append(tokens, message.Values["token"])
			return context.DeadlineExceeded
		}
		ctx, cancel := context.WithCancel(context.Background())
		var running sync.WaitGroup
		running.Go(func() { m.Run(ctx, ctx) })
		b.queueLink(t, "usr_ada")
		b.queueLink(t, "usr_bob")
		m.Wake()
		pass(2 * time.Minute)
		if len(tokens) != 4 {
			t.Fatalf("%d mails were tried", len(tokens))
		}
		member := store.RoleMember
		b.update(func(tx store.Tx) error {
			_, err := store.ChangeMember(tx, "", testOrg, "usr_bob", store.MemberChange{Role: &member})
			return err
		})
		pass(10 * time.Minute)
		if len(tokens) != 5 {
			t.Errorf("%d mails were tried after one's reader was demoted", len(tokens))
		}
		b.view(func(tx store.Tx) error {
			l, err := store.FindSignInLink(tx, tokens[4])
			if left := l.ExpiresAt.Sub(tx.Now()); err != nil || l.UserID != "usr_ada" || left <= 0 || left > time.Hour-10*time.Minute {
				t.Errorf("the last link is %+v, %v", l, err)
			}
			return nil
		})
		pass(3 * time.Hour)
		if b.waitingMails() != 0 {
			t.Error("mail whose time is over still waits")
		}
		cancel()
		running.Wait()
		b.store.Close()
	})
}

// pass lets time pass, until all that is due by then is done.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func (b *bench) queueLink(t *testing.T, userID string) {
	t.Helper()
	b.update(func(tx store.Tx) error {
		_, err := store.QueueSignInLink(tx, testOrg, userID, time.Hour)
		return err
	})
	b.view(func(tx store.Tx) error {
		waiting, err := tx.Mails("", 9)
		for _, m := range waiting {
			if m.Values["token"] != "" {
				t.Error("a token waits in the store")
			}
		}
		return err
	})
}

func (b *bench) waitingMails() (n int) {
	b.view(func(tx store.Tx) error {
		waiting, err := tx.Mails("", 9)
		n = len(waiting)
		return err
	})
	return n
}
