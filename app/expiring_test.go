package app

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/issuer"
	"teamdata/store"
	"teamdata/store/boltstore"
)

// Certificates are checked once an hour.
func TestExpiringIsWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Hour+time.Minute)
		defer cancel()
		checks := 0
		a := &App{log: zerolog.Nop()}
		e := &expiring{to: "ops@example.com", status: func() []store.CertificateStatus { checks++; return nil }}
		a.repeat(ctx, e.job())
		if checks != 10 {
			t.Errorf("checked %d times in 10 hours", checks)
		}
	})
}

// The status and the metrics have the endpoints' certificates that expire soon, beside the
// server's.
func TestClientCertificatesInStatus(t *testing.T) {
	s, err := boltstore.Open(filepath.Join(t.TempDir(), "teamdata.db"), boltstore.Options{NoSync: true})
	kit.Must(t, err)
	defer s.Close()
	a := &App{store: s}
	if all := a.certificateStatus(); len(all) != 0 {
		t.Errorf("before any: %v", all)
	}
	until := time.Now().Add(27 * 24 * time.Hour).Truncate(time.Second).UTC()
	certificate, key := issuer.New(t, "ours").Issue(t, "acme", until)
	kit.Must(t, s.Update(t.Context(), store.All, func(tx store.Tx) error {
		_, err := store.ImportOrg(tx, store.Org{ID: "org_acme", Name: "Acme"})
		if err == nil {
			_, err = store.ImportEndpoint(tx, store.Endpoint{ID: "whe_1", OrgID: "org_acme", URL: "https://acme.example", Events: []string{"*"},
				Sending: store.SendOptions{ClientCertificate: certificate, ClientKey: key}})
		}
		return err
	}))
	kit.Must(t, a.findClientCertificates(t.Context()))
	want := store.CertificateStatus{Name: "client certificate of org_acme/whe_1", NotAfter: until}
	if all := a.certificateStatus(); len(all) != 1 || all[0] != want {
		t.Errorf("%+v, not %+v", all, want)
	}
	certificate, key = issuer.New(t, "ours").Issue(t, "acme", until.Add(24*time.Hour))
	kit.Must(t, s.Update(t.Context(), store.All, func(tx store.Tx) error {
		_, err := store.ChangeEndpoint(tx, "", "org_acme", "whe_1", store.EndpointChange{Sending: store.SendChange{ClientCertificate: &certificate, ClientKey: &key}})
		return err
	}))
	if all := a.certificateStatus(); len(all) != 0 {
		t.Errorf("after it was replaced: %+v", all)
	}
}

// The operator gets a mail every 24 hours about each certificate that should have
// been renewed by now.
func TestExpiring(t *testing.T) {
	s, err := boltstore.Open(filepath.Join(t.TempDir(), "teamdata.db"), boltstore.Options{NoSync: true})
	kit.Must(t, err)
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
		kit.Must(t, e.mailOverdue(context.Background(), end.Add(-check.before)))
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

// Nodes that have the same certificate send one mail about it, which is not lost when
// it could not be queued at once.
func TestExpiringOverNodes(t *testing.T) {
	s, err := boltstore.Open(filepath.Join(t.TempDir(), "teamdata.db"), boltstore.Options{NoSync: true})
	kit.Must(t, err)
	defer s.Close()
	end := time.Date(2026, 12, 31, 0, 0, 0, 0, time.UTC)
	node := func(in store.Store, notAfter time.Time) *expiring {
		return &expiring{store: in, to: "ops@example.com", wake: func() {}, owed: map[string]bool{}, status: func() []store.CertificateStatus {
			return []store.CertificateStatus{{Name: "own.pem", NotAfter: notAfter}}
		}}
	}
	first, second, other := node(refusing{s}, end), node(s, end), node(s, end.Add(time.Hour))
	now := end.Add(-10 * 24 * time.Hour)
	if err := first.mailOverdue(t.Context(), now); err == nil {
		t.Error("it could be queued")
	}
	for _, step := range []struct {
		node  *expiring
		mails int
	}{{second, 0}, {first, 1}, {second, 1}, {first, 1}, {other, 2}} {
		first.store = s
		kit.Must(t, step.node.mailOverdue(t.Context(), now))
		if err := s.View(t.Context(), func(tx store.Tx) error {
			mails, err := tx.Mails("", 10)
			if len(mails) != step.mails {
				t.Errorf("%d mails, want %d", len(mails), step.mails)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// refusing is a store that commits nothing.
type refusing struct{ store.Store }

func (refusing) Update(context.Context, store.Scope, func(store.Tx) error) error {
	return store.Unavailable(context.DeadlineExceeded)
}

// The operator's org gets one signal about each certificate, over restarts, and one about each
// backup that was due and failed, however often it is retried.
func TestSignalsOfTheServer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "teamdata.db")
	now := time.Date(2026, 12, 20, 0, 0, 0, 0, time.UTC)
	s, err := boltstore.Open(path, boltstore.Options{NoSync: true})
	kit.Must(t, err)
	kit.Must(t, s.Update(t.Context(), store.All, func(tx store.Tx) error {
		_, errOrg := store.ImportOrg(tx, store.Org{ID: "org_ops", Name: "Ops"})
		_, errEndpoint := store.ImportEndpoint(tx, store.Endpoint{ID: "whe_1", OrgID: "org_ops", Events: []string{"teamdata.*"}})
		return errors.Join(errOrg, errEndpoint)
	}))
	status := []store.CertificateStatus{{Name: "a.pem", NotAfter: now.AddDate(0, 0, 10)}, {Name: "good.pem", NotAfter: now.AddDate(0, 3, 0)}}
	var a *App
	var b *backups
	start := func() {
		a = &App{store: s, log: zerolog.Nop(), settings: Settings{OperatorOrg: "org_ops", BackupDir: filepath.Join(t.TempDir(), "none", "there"), BackupEvery: time.Hour, BackupKeep: 1}}
		b = a.backups(s)
		b.now = func() time.Time { return now }
	}
	hold := func(when string, certificates, backups int) {
		t.Helper()
		e := &expiring{store: s, org: "org_ops", status: func() []store.CertificateStatus { return status }}
		kit.Must(t, e.mailOverdue(t.Context(), now)) // there is no address
		kit.Must(t, e.signalOverdue(t.Context(), now))
		b.next(t.Context())
		count := map[string]int{}
		kit.Must(t, s.View(t.Context(), func(tx store.Tx) error {
			e, err := tx.Endpoint("org_ops", "whe_1")
			if err != nil {
				return err
			}
			all, _, err := tx.DeliveryPage(e.Number, store.ListWaiting, store.Cursor{}, 100)
			for _, d := range all {
				count[d.EventType]++
			}
			return err
		}))
		if count[store.EventCertificateExpiring] != certificates || count[store.EventBackupFailed] != backups {
			t.Errorf("%s: %v", when, count)
		}
	}
	start()
	hold("at first", 1, 1)
	now = now.Add(backupRetry)
	hold("when it is retried", 1, 1)
	now = now.Add(b.every)
	hold("when the next was due", 1, 2)
	status[0].NotAfter = now.AddDate(0, 0, 1)
	hold("with another certificate", 2, 2)
	b.dir = t.TempDir()
	hold("when a backup is made", 2, 2)
	b.dir = filepath.Join(t.TempDir(), "none", "there")
	hold("when it fails again", 2, 3)
	kit.Must(t, s.Close())
	s, err = boltstore.Open(path, boltstore.Options{NoSync: true})
	kit.Must(t, err)
	defer s.Close()
	start()
	hold("after a restart", 2, 4)
}

// An org that is to get signals and doesn't exist is warned of.
func TestNoOperatorOrg(t *testing.T) {
	s, err := boltstore.Open(filepath.Join(t.TempDir(), "teamdata.db"), boltstore.Options{NoSync: true})
	kit.Must(t, err)
	defer s.Close()
	var log bytes.Buffer
	a := &App{store: s, log: zerolog.New(&log), settings: Settings{OperatorOrg: "org_ops"}}
	a.warnOfOperatorOrg(t.Context())
	if !strings.Contains(log.String(), "teamdata org create --id org_ops") {
		t.Errorf("the log has %q", &log)
	}
}
