package settings

import (
	"net/http"
	"strings"

	"teamdata/store"
)

// forgotPage is what forgot.html is filled with.
type forgotPage struct {
	Mail  bool // there is a mail server
	Sent  bool // a link goes out, if there is such an account
	Error *store.Error
}

func (r *request) showForgot() error {
	return r.render(http.StatusOK, "signin_forgot", forgotPage{Mail: r.s.config.Mailed != nil})
}

// sendForgotten mails a link to the account that is named. The answer is the same
// and takes as long whether there is such an account or not: it is looked for
// afterwards.
func (r *request) sendForgotten() error {
	if r.s.config.Mailed == nil {
		return r.showForgot()
	}
	name := strings.TrimSpace(r.field("name"))
	if err := r.readTime(); err != nil {
		return err
	}
	if e, ok := formError(r.tryClient()); ok {
		return r.render(e.Code.Status(), "signin_forgot", forgotPage{Mail: true, Error: e})
	}
	if r.s.throttle.mail.Take(hashName(name), r.now).OK {
		r.aside("mail a sign-in link", func(tx store.Tx) error { return mailForgotten(tx, name) }, r.s.config.Mailed)
	}
	return r.render(http.StatusOK, "signin_forgot", forgotPage{Mail: true, Sent: true})
}

// readTime finds out what time it is.
func (r *request) readTime() error {
	return r.s.store.View(r.HTTP.Context(), func(tx store.Tx) error { r.now = tx.Now(); return nil })
}

// mailForgotten queues a link for an account. It goes to the account's own
// address, while an org that the person manages knows the person by it.
func mailForgotten(tx store.Tx, name string) error {
	a, err := store.FindAccount(tx, name)
	if err != nil || a.Email == "" {
		return ignoreNotFound(err)
	}
	orgs, err := tx.ManagedOrgs(a.UserID)
	if err != nil {
		return err
	}
	for _, id := range orgs {
		m, err := tx.Member(id, a.UserID)
		if err != nil {
			return err
		}
		if strings.EqualFold(m.Email, a.Email) {
			_, err := store.QueueSignInLink(tx, id, a.UserID, store.MailedSignInLinkTTL)
			return err
		}
	}
	return nil
}

func ignoreNotFound(err error) error {
	if store.IsNotFound(err) {
		return nil
	}
	return err
}
