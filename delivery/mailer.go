package delivery

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"teamdata/delivery/mail"
	"teamdata/internal/hint"
	"teamdata/store"
)

// Mailer sends the mail waiting in the store, one at a time.
type Mailer struct {
	store    store.Store
	send     func(context.Context, mail.Message) error // nil: there is no SMTP server
	schedule []time.Duration
	now      func() time.Time
	log      *zerolog.Logger
	hasWork  chan struct{}        // has one token while mail may have been queued
	asked    chan chan<- struct{} // to be closed once what is due was tried; see Settle
}

// NewMailer returns a Mailer. Without a sender it only logs a warning about
// waiting mail. The schedule is the delay after each failed attempt; its last
// step repeats. An empty schedule means store.DefaultMailSchedule. now is the clock
// that decides what is due.
func NewMailer(s store.Store, sender *mail.Sender, schedule []time.Duration, now func() time.Time, log *zerolog.Logger) *Mailer {
	if len(schedule) == 0 {
		schedule = store.DefaultMailSchedule
	}
	m := &Mailer{store: s, log: log, hasWork: make(chan struct{}, 1), asked: make(chan chan<- struct{}), schedule: schedule, now: now}
	if sender != nil {
		m.send = sender.Send
	}
	return m
}

// Wake makes the Mailer check for queued mail. It never blocks.
func (m *Mailer) Wake() { signal(m.hasWork) }

// Settle makes Run read the clock, which may have been moved, and waits until all mail
// that is due has been tried; without a sender none is. It returns ctx's error if ctx
// is done first.
func (m *Mailer) Settle(ctx context.Context) error {
	if m.send == nil {
		return nil
	}
	return settle(ctx, m.asked)
}

// Run sends until ctx is done. A mail being sent then may finish until grace is
// done.
func (m *Mailer) Run(ctx, grace context.Context) {
	m.Wake()
	var timer <-chan time.Time
	for {
		var settled chan<- struct{}
		select {
		case <-ctx.Done():
			return
		case <-m.hasWork:
		case settled = <-m.asked:
		case <-timer:
		}
		if timer = nil; m.send == nil {
			m.warn(ctx)
		} else if next := m.sendDue(ctx, grace); !next.IsZero() {
			timer = time.After(untilLook(m.now(), next))
		}
		if settled != nil {
			close(settled)
		}
	}
}

// mailPage is how many mails are read in one transaction.
const mailPage = 100

// each calls fn for each waiting mail, outside of any transaction.
func (m *Mailer) each(ctx context.Context, fn func(store.Mail)) error {
	for after := ""; ; {
		var page []store.Mail
		err := m.store.View(ctx, func(tx store.Tx) (err error) {
			page, err = tx.Mails(after, mailPage)
			return err
		})
		if err != nil || len(page) == 0 {
			return err
		}
		for _, mail := range page {
			fn(mail)
		}
		after = page[len(page)-1].ID
	}
}

// sendDue sends the due mail and returns when the next is due; zero if none
// waits.
func (m *Mailer) sendDue(ctx, grace context.Context) (next time.Time) {
	err := m.each(ctx, func(waiting store.Mail) {
		if ctx.Err() != nil {
			return
		}
		now := m.now()
		if due := waiting.DueAt; !due.After(now) || due.After(store.LatestDue(now, m.schedule)) { // or the clock was set back
			waiting.DueAt = m.attempt(grace, waiting)
		}
		if at := waiting.DueAt; !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	})
	if err != nil && ctx.Err() == nil {
		m.log.Error().Fields(hint.Fields(err)).Msg("queued mail can't be read; trying again")
		return m.now().Add(recordPause)
	}
	return next
}

// attempt sends one mail, records the outcome, and returns when the mail is due
// again; zero when it is not.
func (m *Mailer) attempt(ctx context.Context, waiting store.Mail) (next time.Time) {
	values, err := m.values(ctx, waiting)
	if err == nil {
		err = m.send(ctx, mail.Message{
			ID: waiting.ID, To: waiting.To, Name: waiting.Name,
			Template: waiting.Template, Values: values, CreatedAt: waiting.CreatedAt,
		})
	}
	if ctx.Err() != nil && err != nil {
		return time.Time{} // cut off by the shutdown: the attempt does not count
	}
	gone := false
	record(ctx, m.store, m.log, store.InOrg(waiting.OrgID), func(tx store.Tx) error {
		if next, gone = (time.Time{}), false; err == nil || mail.Permanent(err) || obsolete(err) {
			return tx.DeleteMail(waiting.ID)
		}
		later, err := store.PostponeMail(tx, waiting, m.schedule)
		next, gone = later, store.IsNotFound(err)
		return err
	})
	switch {
	case gone:
		m.log.Info().Err(err).Str("mail", waiting.ID).Str("org", waiting.OrgID).Msg("a mail can't be sent, and is no longer queued")
	case err == nil:
		m.log.Info().Str("mail", waiting.ID).Str("org", waiting.OrgID).Str("template", waiting.Template).Msg("a mail was sent")
	case next.IsZero():
		m.log.Error().Err(err).Str("mail", waiting.ID).Str("org", waiting.OrgID).Msg("a mail can't be sent, and was given up")
	default:
		m.log.Warn().Err(err).Str("mail", waiting.ID).Str("org", waiting.OrgID).Time("next", next).Msg("a mail can't be sent; trying again later")
	}
	return next
}

// values returns the values of the mail's template. A sign-in link is created
// only now, so no secret is stored. notFound: the mail's org was deleted.
func (m *Mailer) values(ctx context.Context, waiting store.Mail) (values map[string]string, err error) {
	if waiting.Template != store.MailSignInLink {
		return waiting.Values, m.store.View(ctx, func(tx store.Tx) error {
			if waiting.OrgID == "" { // it is to the operator
				return nil
			}
			_, err := tx.Org(waiting.OrgID)
			return err
		})
	}
	err = m.store.Update(ctx, store.All, func(tx store.Tx) error {
		values, err = store.SignInLinkValues(tx, waiting)
		return err
	})
	return values, err
}

// obsolete reports whether the mail no longer needs to be sent.
func obsolete(err error) bool {
	return store.IsNotFound(err) || store.CodeOf(err) == store.CodeConflict
}

// warn logs how much mail is waiting for an SMTP server.
func (m *Mailer) warn(ctx context.Context) {
	n := 0
	if err := m.each(ctx, func(store.Mail) { n++ }); err == nil && n > 0 {
		m.log.Warn().Int("mails", n).Dur("keptFor", store.MailTTL).Msg("mail is waiting, and no mail server is configured; set one with --smtp-url and --mail-from")
	}
}
