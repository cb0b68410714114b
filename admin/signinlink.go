package admin

import (
	"net/http"
	"time"

	"teamdata/store"
	"teamdata/wire/web"
)

var errNoAddress = store.Errorf(store.CodeConflict, "No server runs, so it is not known where the link leads.").Advise("Name its address with --public-url, such as https://data.example.com, or make the link while it runs.")

// createSignInLink makes a link with which an owner, admin or viewer chooses a password,
// or queues a mail with such a link.
func (r *request) createSignInLink() error {
	ttl, mail := int64(store.DefaultSignInLinkTTL/time.Second), false
	r.readOptional(r.in.Int("expiresInSeconds", &ttl, 1, int64(store.MaxSignInLinkTTL/time.Second)), r.in.Bool("mail", &mail))
	make := r.linkToShow
	if mail {
		make = r.linkToMail
	}
	r.beyond = store.All // the address of an account is looked for among all
	err := r.idempotent(func(tx store.Tx) (store.Answer, error) { return make(tx, time.Duration(ttl)*time.Second) })
	if mail && r.api.config.Mailed != nil {
		r.api.config.Mailed()
	}
	return err
}

func (r *request) linkToShow(tx store.Tx, ttl time.Duration) (store.Answer, error) {
	if r.api.config.LinkURL == nil {
		return store.Answer{}, errNoAddress
	}
	l, token, err := store.CreateSignInLink(tx, r.org(), r.Param("userId"), ttl)
	err = store.AuditAccount(err, tx, r.actor, l.UserID, store.AuditLinkCreated)
	record := newObject().text("id", l.ID).text("userId", l.UserID).time("createdAt", l.CreatedAt).time("expiresAt", l.ExpiresAt)
	return withSecret(http.StatusCreated, record, "url", r.api.config.LinkURL(token), "token", token), err
}

func (r *request) linkToMail(tx store.Tx, ttl time.Duration) (store.Answer, error) {
	to, err := store.QueueSignInLink(tx, r.org(), r.Param("userId"), ttl)
	err = store.AuditAccount(err, tx, r.actor, r.Param("userId"), store.AuditLinkCreated)
	return web.JSON(http.StatusAccepted, newObject().text("mailedTo", to).end()), err
}
