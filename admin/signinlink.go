package admin

import (
	"cmp"
	"net/http"
	"time"

	"teamdata/client/admin/api"
	"teamdata/store"
	"teamdata/wire/web"
)

var errNoAddress = store.Errorf(store.CodeConflict, "No server is running, so the address of the link is unknown.").Advise("Name its address with --public-url, such as https://data.example.com, or make the link while it is running.")

var errNoMailServer = store.Errorf(store.CodeConflict, "This server has no mail server.")

// createSignInLink makes a link with which an owner, admin or viewer chooses a password,
// or queues a mail with such a link.
func (r *request) createSignInLink() error {
	b := decodeOptional[api.NewSignInLink](r)
	ttl, mail := cmp.Or(seconds(b.ExpiresInSeconds), store.DefaultSignInLinkTTL), orZero(b.Mail)
	make := r.linkToShow
	if mail {
		make = r.linkToMail
	}
	r.beyond = store.All // the address of an account is looked for among all
	err := r.idempotent(func(tx store.Tx) (store.Answer, error) { return make(tx, ttl) })
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
	if r.api.config.NoMail {
		return store.Answer{}, errNoMailServer
	}
	to, err := store.QueueSignInLink(tx, r.org(), r.Param("userId"), ttl)
	err = store.AuditAccount(err, tx, r.actor, r.Param("userId"), store.AuditLinkCreated)
	return web.JSON(http.StatusAccepted, newObject().text("mailedTo", to).end()), err
}
