package app

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"teamdata/admin"
	"teamdata/internal/hint"
	"teamdata/server/certificates"
	"teamdata/store"
)

const (
	// checkExpiringEvery is how often certificates that were not renewed are checked.
	checkExpiringEvery = time.Hour
	// mailAgainAfter is how long the operator has until the next mail about the same
	// certificate.
	mailAgainAfter = 24 * time.Hour
	// ownNotice is how long before its end a certificate that somebody else renews
	// is mailed about.
	ownNotice = 14 * 24 * time.Hour
)

// expiring mails the operator about certificates that come near their end.
type expiring struct {
	store  store.Store
	to     string                       // address of the operator
	status func() []certificates.Status // of all certificates
	wake   func()                       // says that there is mail
	mailed map[string]time.Time         // when the last mail about each was queued
}

// watchCertificates checks them until ctx is done.
func (a *App) watchCertificates(ctx context.Context) {
	if a.certificates == nil || a.settings.OperatorMail == "" {
		return
	}
	e := &expiring{store: a.store, to: a.settings.OperatorMail, status: a.certificates.Status, wake: a.mailer.Wake, mailed: map[string]time.Time{}}
	e.watch(ctx, a.log)
}

func (e *expiring) watch(ctx context.Context, log zerolog.Logger) {
	every(ctx, checkExpiringEvery, func(now time.Time) {
		if err := e.mailOverdue(ctx, now); err != nil && ctx.Err() == nil {
			log.Error().Fields(hint.Fields(err)).Msg("mail about a certificate can't be queued")
		}
	})
}

// mailOverdue queues a mail about each certificate that should have been renewed by now.
func (e *expiring) mailOverdue(ctx context.Context, now time.Time) error {
	for _, s := range e.status() {
		if !overdue(s, now) || now.Sub(e.mailed[s.Name]) < mailAgainAfter {
			continue
		}
		values := map[string]string{"certificate": s.Name, "expiresAt": store.FormatTime(s.NotAfter), "lastReason": ""}
		if s.LastError != nil {
			values["lastReason"] = s.LastError.Error()
		}
		err := e.store.Update(ctx, func(tx store.Tx) error {
			return store.MailOperator(tx, e.to, store.MailCertificateExpiring, values)
		})
		if err != nil {
			return err
		}
		e.mailed[s.Name] = now
		e.wake()
	}
	return nil
}

// overdue tells whether half of the time in which a certificate is to be renewed
// has gone by.
func overdue(s certificates.Status, now time.Time) bool {
	if s.NotAfter.IsZero() {
		return false // there is none yet: the log and the status say so
	}
	begin := s.NextRenewal
	if begin.IsZero() {
		begin = s.NotAfter.Add(-2 * ownNotice)
	}
	return now.After(begin.Add(s.NotAfter.Sub(begin) / 2))
}

// certificateStatus is what the admin API says about the certificates.
func (a *App) certificateStatus() (all []admin.Certificate) {
	if a.certificates == nil {
		return nil
	}
	for _, s := range a.certificates.Status() {
		c := admin.Certificate{Name: s.Name, NotAfter: s.NotAfter, NextRenewal: s.NextRenewal, LastErrorAt: s.LastErrorAt}
		if s.LastError != nil {
			c.LastError = s.LastError.Error()
		}
		all = append(all, c)
	}
	return all
}
