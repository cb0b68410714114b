package delivery_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"teamdata/delivery/mail"
)

// modelMail is a mail that was queued, and what must have happened to it.
type modelMail struct {
	id, to  string
	created time.Time
	moved   time.Time // when the latest commit that changed it was made
	due     time.Time
	tries   int
	gone    bool // sent, or expired
	process int  // that tried last
	sent    bool // by the last try
	tried   bool // the outcome of the last try is not committed yet
}

// mailServer is the mail server. The world's lock guards it.
type mailServer struct {
	failing  float64
	failsTo  time.Time
	requests uint64
}

var errMailServer = errors.New("mail server: try again later")

func (w *world) setMail() {
	failing, span := pick(w.Rand, []float64{0, 0.3, 0.8}), upTo(w.Rand, 10*time.Hour)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mailServer.failing, w.mailServer.failsTo = failing, time.Now().Add(span)
	w.noteLocked("the mail server fails %.0f%% of the mail for %s", 100*failing, span)
}

// sendMail is how a process reaches the mail server.
func (w *world) sendMail(p *process) func(context.Context, mail.Message) error {
	return func(ctx context.Context, m mail.Message) error {
		after, fails := w.mailArrives(p, m)
		if err := wait(ctx, after); err != nil {
			return err
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		l := w.mails[m.ID]
		if l == nil {
			return errMailServer
		}
		l.tried, l.sent, l.process = true, !fails, p.number
		w.sum.sent++
		w.noteLocked("the mail %s to %s is sent: %t", l.id, l.to, l.sent)
		if fails {
			return errMailServer
		}
		return nil
	}
}

// mailArrives checks that a mail may be sent, and decides how the mail server
// answers.
func (w *world) mailArrives(p *process, m mail.Message) (after time.Duration, fails bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mailServer.requests++
	r := rand.New(rand.NewPCG(w.seed, 2<<60|w.mailServer.requests))
	l := w.mails[m.ID]
	switch {
	case l == nil || l.to != m.To:
		w.breaksLocked(disabling, "the mail %s to %s is sent, which was never queued", m.ID, m.To)
	case l.gone || l.tried && l.process == p.number:
		w.breaksLocked(disabling, "the mail %s is sent again (sent before: %t)", m.ID, l.sent)
	case l.due.After(time.Now()):
		w.breaksLocked(disabling, "the mail %s is sent before it is due", m.ID)
	}
	return upTo(r, 2*time.Second), time.Now().Before(w.mailServer.failsTo) && r.Float64() < w.mailServer.failing
}

var (
	mailPauses = []time.Duration{time.Minute, 5 * time.Minute, 25 * time.Minute, 2 * time.Hour}
	mailKept   = 72 * time.Hour
)

// mailed says what the commit with a mail's outcome must write.
func (w *world) mailed(p *process, a *transaction) (want want) {
	if len(a.mails)+len(a.sent) != 1 {
		w.breaksLocked(disabling, "the outcome of one mail changes %d", len(a.mails)+len(a.sent))
		return want
	}
	var l *modelMail
	if len(a.sent) > 0 {
		l = w.mails[a.sent[0]]
	} else {
		l = w.mails[a.mails[0].ID]
	}
	if l == nil || !l.tried || l.process != p.number {
		w.breaksLocked(disabling, "an outcome is written of a mail that was not attempted")
		return want
	}
	l.tried = false
	pause := mailPauses[min(l.tries, len(mailPauses)-1)]
	l.tries++
	if due := a.now.Add(pause); !l.sent && due.Sub(l.created) <= mailKept {
		l.due = due
		want.mails = []*modelMail{l}
	} else {
		want.sent = []*modelMail{l}
	}
	return want
}

// checkMails compares the mail that is queued, postponed and deleted with what must
// be.
func (w *world) checkMails(a *transaction, want *want) {
	var written []string
	var moved, sent []*modelMail
	for _, m := range a.mails {
		l := w.mails[m.ID]
		if l == nil {
			l = &modelMail{id: m.ID, to: m.To, created: m.CreatedAt, due: a.now}
			w.mails[m.ID] = l
			written = append(written, m.To)
			w.noteLocked("  the mail %s to %s", m.ID, m.To)
		} else {
			moved = append(moved, l)
		}
		if l.moved = time.Now(); !l.due.Equal(m.DueAt) || l.tries != m.Attempts {
			w.breaksLocked(disabling, "the mail %s is due %s after %d tries, not %s after %d", l.id, m.DueAt, m.Attempts, l.due, l.tries)
		}
	}
	for _, id := range a.sent {
		if l := w.mails[id]; l != nil {
			l.gone = true
			sent = append(sent, l)
		}
	}
	if !sameSet(written, want.mailTo) || !sameSet(moved, want.mails) || !sameSet(sent, want.sent) {
		w.breaksLocked(disabling, "%s writes mail to %q, not to %q; postpones %d and deletes %d", a.who, written, want.mailTo, len(moved), len(sent))
	}
}
