package app

import (
	"context"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"teamdata/store"
	"teamdata/store/boltstore"
)

// Certificates are checked once an hour.
func TestExpiringIsWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Hour+time.Minute)
		defer cancel()
		checks := 0
		e := &expiring{status: func() []store.CertificateStatus { checks++; return nil }}
		e.watch(ctx, zerolog.Nop())
		if checks != 10 {
			t.Errorf("checked %d times in 10 hours", checks)
		}
	})
}

// The operator gets a mail every 24 hours about each certificate that should have
// been renewed by now.
func TestExpiring(t *testing.T) {
	s, err := boltstore.Open(filepath.Join(t.TempDir(), "teamdata.db"), boltstore.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	end := time.Date(2026, 12, 31, 0, 0, 0, 0, time.UTC)
	const day = 24 * time.Hour
	woken := 0
	e := &expiring{
		store: s, to: "ops@example.com", wake: func() { woken++ }, owed: map[string]bool{},
		status: func() []store.CertificateStatus {
			return []store.CertificateStatus{
				{Name: "renewed", NotAfter: end, NextRenewal: end.Add(-30 * day), LastError: "no answer"},
				{Name: "own.pem", NotAfter: end.Add(-2 * day)},
				{Name: "never issued"},
			}
		},
	}
	for _, check := range []struct {
		before time.Duration
		mails  int
	}{
		{17 * day, 0},
		{16 * day, 0},
		{16*day - 1, 1}, // own.pem, which has 14 days left
		{15*day + time.Hour, 1},
		{15 * day, 1},                 // a nanosecond less than 24 hours after its mail
		{15*day - 1, 3},               // own.pem again, and the one that teamdata renews
		{14 * day, 3},                 // again a nanosecond less than 24 hours
		{14*day - 1 - time.Minute, 5}, // both again
	} {
		if err := e.mailOverdue(context.Background(), end.Add(-check.before)); err != nil {
			t.Fatal(err)
		}
		var mails []store.Mail
		_ = s.View(context.Background(), func(tx store.Tx) (err error) {
			mails, err = tx.Mails("", 10)
			return err
		})
		if len(mails) != check.mails || woken != check.mails {
			t.Fatalf("%s before the end: %d mails, woken %d times; want %d", check.before, len(mails), woken, check.mails)
		}
		for _, m := range mails {
			if m.To != "ops@example.com" || m.Template != store.MailCertificateExpiring || m.OrgID != "" {
				t.Errorf("mail %+v", m)
			}
		}
	}
}
