package app

import (
	"context"
	"errors"
	"time"

	"teamdata/store"
)

const (
	// checkExpiringEvery is how often overdue certificates are checked.
	checkExpiringEvery = time.Hour
	// mailAgainAfter is the time between mails about the same certificate.
	mailAgainAfter = 24 * time.Hour
)

// expiring tells the operator of certificates that are about to expire.
type expiring struct {
	store  store.Store
	to     string                           // address of the operator; empty: none is mailed
	org    string                           // of the operator, which gets signals; empty: none does
	status func() []store.CertificateStatus // of all certificates
	wake   func()                           // says that there is mail
	owed   map[string]bool                  // certificates about which a mail could not be queued
}

func (a *App) expiring() *expiring {
	return &expiring{store: a.store, to: a.settings.OperatorMail, org: a.settings.OperatorOrg, status: a.certificates.Status, wake: a.mailer.Wake, owed: map[string]bool{}}
}

// job tells the operator while certificates are overdue.
func (e *expiring) job() job {
	return job{
		first: checkExpiringEvery, pause: checkExpiringEvery,
		do: func(ctx context.Context) error {
			return errors.Join(e.mailOverdue(ctx, time.Now()), e.signalOverdue(ctx, time.Now()))
		},
		failed: "the operator can't be told of a certificate",
	}
}

// mailOverdue queues a mail about each certificate that should have been renewed by now.
// Each node knows its own certificates; those that several have are in one mail.
func (e *expiring) mailOverdue(ctx context.Context, now time.Time) error {
	if e.to == "" {
		return nil
	}
	for _, s := range e.status() {
		if !s.Overdue(now) {
			continue
		}
		id := s.Name + " until " + store.FormatTime(s.NotAfter)
		first, err := e.store.UseUp(ctx, "certificate mail "+id, now, mailAgainAfter)
		if err != nil {
			return err
		}
		if !first && !e.owed[id] {
			continue
		}
		e.owed[id] = true
		values := map[string]string{"certificate": s.Name, "expiresAt": store.FormatTime(s.NotAfter), "lastReason": s.LastError}
		err = e.store.Update(ctx, store.All, func(tx store.Tx) error {
			return store.MailOperator(tx, e.to, store.MailCertificateExpiring, values)
		})
		if err != nil {
			return err
		}
		delete(e.owed, id)
		e.wake()
	}
	return nil
}

// signalOverdue signals once for each certificate that it should have been renewed by now.
func (e *expiring) signalOverdue(ctx context.Context, now time.Time) error {
	if e.org == "" {
		return nil
	}
	for _, s := range e.status() {
		if !s.Overdue(now) {
			continue
		}
		err := e.store.Update(ctx, store.All, func(tx store.Tx) error { return store.SignalCertificateExpiring(tx, e.org, s) })
		if err != nil {
			return err
		}
	}
	return nil
}

// certificateStatus returns the state of all certificates; none for plain HTTP.
func (a *App) certificateStatus() []store.CertificateStatus {
	if a.certificates == nil {
		return nil
	}
	return a.certificates.Status()
}
