package app

import (
	"context"
	"slices"
	"time"

	"teamdata/store"
)

const (
	// checkExpiringEvery is how often overdue certificates are checked.
	checkExpiringEvery = time.Hour
	// mailAgainAfter is the time between mails about the same certificate.
	mailAgainAfter = 24 * time.Hour
)

// expiring mails the operator about certificates that are about to expire.
type expiring struct {
	store  store.Store
	to     string                           // address of the operator
	status func() []store.CertificateStatus // of all certificates
	wake   func()                           // says that there is mail
	owed   map[string]bool                  // certificates about which a mail could not be queued
}

func (a *App) expiring() *expiring {
	return &expiring{store: a.store, to: a.settings.OperatorMail, status: a.certificates.Status, wake: a.mailer.Wake, owed: map[string]bool{}}
}

// job mails the operator while certificates are overdue.
func (e *expiring) job() job {
	return job{
		first: checkExpiringEvery, pause: checkExpiringEvery,
		do: func(ctx context.Context) error { return e.mailOverdue(ctx, time.Now()) }, failed: "mail about a certificate can't be queued",
	}
}

// mailOverdue queues a mail about each certificate that should have been renewed by now.
// Each node knows its own certificates; those that several have are in one mail.
func (e *expiring) mailOverdue(ctx context.Context, now time.Time) error {
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

// certificateStatus returns the state of all certificates of the server, none for plain HTTP,
// and the endpoints' that expire soon.
func (a *App) certificateStatus() (all []store.CertificateStatus) {
	if a.certificates != nil {
		all = slices.Clone(a.certificates.Status())
	}
	if ending := a.clientCertificates.Load(); ending != nil {
		all = append(all, *ending...)
	}
	return all
}

// clientCertificatesJob finds the endpoints' certificates that expire soon: a scrape of the
// metrics would take long if it read all endpoints.
func (a *App) clientCertificatesJob() job {
	return job{first: firstSweep, pause: checkExpiringEvery, failed: "the certificates of endpoints can't be read", do: a.findClientCertificates}
}

func (a *App) findClientCertificates(ctx context.Context) error {
	return a.store.View(ctx, func(tx store.Tx) error {
		ending, err := tx.EndingClientCertificates()
		if err == nil {
			a.clientCertificates.Store(&ending)
		}
		return err
	})
}
