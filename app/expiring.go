package app

import (
	"context"
	"errors"
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

// certificateStatus returns the state of all certificates of the server, none for plain HTTP,
// and the endpoints' that expire soon.
func (a *App) certificateStatus() (all []store.CertificateStatus) {
	if a.certificates != nil {
		all = slices.Clone(a.certificates.Status())
	}
	if ending := a.clientCertificates.Load(); ending != nil && len(*ending) > 0 {
		all = append(all, a.stillEnding(*ending)...)
	}
	return all
}

// maxStillEnding is how long a scrape of the metrics waits for a database that is away.
const maxStillEnding = time.Second

// stillEnding leaves out the endpoints' certificates that were replaced since they were found,
// if the store says so.
func (a *App) stillEnding(found []store.CertificateStatus) []store.CertificateStatus {
	ctx, cancel := context.WithTimeout(context.Background(), maxStillEnding)
	defer cancel()
	still := found
	err := a.store.View(ctx, func(tx store.Tx) (err error) {
		still, err = store.StillEnding(tx, found)
		return err
	})
	if err != nil {
		return found
	}
	return still
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
