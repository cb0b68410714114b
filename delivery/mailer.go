package delivery

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"teamdata/delivery/mail"
	"teamdata/store"
)

// Mailer sends the mail that waits in the store, one after the other.
type Mailer struct {
	store store.Store
	send  func(context.Context, mail.Message) error // nil: there is no SMTP server
	log   *zerolog.Logger
	news  chan struct{} // holds one token while mail may have been queued

	schedule []time.Duration
}

// NewMailer makes a Mailer. Without a sender it only warns of mail that waits.
// The schedule says how long after each failed try a mail is tried again; its
// last step counts for every later one. It is store.DefaultMailSchedule when it
// is empty.
func NewMailer(s store.Store, sender *mail.Sender, schedule []time.Duration, log *zerolog.Logger) *Mailer {
	if len(schedule) == 0 {
		schedule = store.DefaultMailSchedule
	}
	m := &Mailer{store: s, log: log, news: make(chan struct{}, 1), schedule: schedule}
	if sender != nil {
		m.send = sender.Send
	}
	m.Wake()
	return m
}

// Wake tells it that mail was queued.
func (m *Mailer) Wake() {
	select {
	case m.news <- struct{}{}:
	default:
	}
}

// Run sends until ctx is done, and lets a mail that is on its way then arrive
// until grace is done.
func (m *Mailer) Run(ctx, grace context.Context) {
	var timer <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.news:
		case <-timer:
		}
		if timer = nil; m.send == nil {
			m.warn(ctx)
		} else if next := m.sendDue(ctx, grace); !next.IsZero() {
			timer = time.After(time.Until(next))
		}
	}
}

// mailPage is how many mails are looked at in one transaction.
const mailPage = 100

// each calls fn with each mail that waits, outside of any transaction.
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

// sendDue sends what is due, and returns when the next is; zero when none waits.
func (m *Mailer) sendDue(ctx, grace context.Context) (next time.Time) {
	err := m.each(ctx, func(waiting store.Mail) {
		if ctx.Err() != nil {
			return
		}
		if !waiting.DueAt.After(time.Now()) {
			waiting.DueAt = m.attempt(grace, waiting)
		}
		if at := waiting.DueAt; !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	})
	if err != nil && ctx.Err() == nil {
		m.log.Error().Err(err).Msg("the mail that waits can't be read; trying again")
		return time.Now().Add(recordPause)
	}
	return next
}

// attempt sends one mail, records what came of it, and returns when it is due
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
		return time.Time{} // cut off by the stop: it does not count
	}
	record(ctx, m.store, m.log, func(tx store.Tx) error {
		if next = (time.Time{}); err == nil || mail.Permanent(err) || overtaken(err) {
			return tx.DeleteMail(waiting.ID)
		}
		later, err := store.PostponeMail(tx, waiting, m.schedule)
		next = later
		return err
	})
	switch {
	case err == nil:
		m.log.Info().Str("mail", waiting.ID).Str("org", waiting.OrgID).Str("template", waiting.Template).Msg("a mail was sent")
	case next.IsZero():
		m.log.Error().Err(err).Str("mail", waiting.ID).Str("org", waiting.OrgID).Msg("a mail can't be sent; it was given up")
	default:
		m.log.Warn().Err(err).Str("mail", waiting.ID).Str("org", waiting.OrgID).Time("next", next).Msg("a mail can't be sent; trying again later")
	}
	return next
}

// values are what the mail's template is filled with. A sign-in link is made only
// now: no secret waits in the store.
func (m *Mailer) values(ctx context.Context, waiting store.Mail) (values map[string]string, err error) {
	if waiting.Template != store.MailSignInLink {
		return waiting.Values, nil
	}
	err = m.store.Update(ctx, func(tx store.Tx) error {
		values, err = store.SignInLinkValues(tx, waiting)
		return err
	})
	return values, err
}

// overtaken tells whether what has happened since leaves nothing to send.
func overtaken(err error) bool {
	return store.IsNotFound(err) || store.CodeOf(err) == store.CodeConflict
}

// warn says what waits in vain.
func (m *Mailer) warn(ctx context.Context) {
	n := 0
	if err := m.each(ctx, func(store.Mail) { n++ }); err == nil && n > 0 {
		m.log.Warn().Int("mails", n).Dur("keptFor", store.MailTTL).Msg("mail waits, and there is no SMTP server to send it; set one with --smtp-url and --mail-from")
	}
}
