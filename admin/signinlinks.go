package admin

import (
	"net/http"
	"time"

	"teamdata/internal/web"
	"teamdata/store"
)

var errNoAddress = store.Errorf(store.CodeConflict, "No server runs, so it is not known where the link leads. Name its address with --public-url, such as https://data.example.com, or make the link while it runs.")

// createSignInLink makes a link with which an owner or admin chooses a password,
// or queues a mail that has one.
func (x *exchange) createSignInLink() error {
	ttl, mail := int64(store.DefaultSignInLinkTTL/time.Second), false
	if len(x.body) > 0 {
		r := x.in
		err := r.Document(r.Int("expiresInSeconds", &ttl, 1, int64(store.MaxSignInLinkTTL/time.Second)), r.Bool("mail", &mail))
		if err != nil {
			return err
		}
	}
	make := x.linkToShow
	if mail {
		make = x.linkToMail
	}
	err := x.once(func(tx store.Tx) (store.Answer, error) { return make(tx, time.Duration(ttl)*time.Second) })
	if mail && x.f.config.Mailed != nil {
		x.f.config.Mailed()
	}
	return err
}

func (x *exchange) linkToShow(tx store.Tx, ttl time.Duration) (store.Answer, error) {
	if x.f.config.LinkURL == nil {
		return store.Answer{}, errNoAddress
	}
	l, token, err := store.CreateSignInLink(tx, x.org(), x.param("userId"), ttl)
	record := newObject().text("id", l.ID).text("userId", l.UserID).time("createdAt", l.CreatedAt).time("expiresAt", l.ExpiresAt)
	kept := append(object{}, record...)
	a := web.JSON(http.StatusCreated, record.text("url", x.f.config.LinkURL(token)).text("token", token).end())
	a.Kept = kept.raw("url", nil).raw("token", nil).end()
	return a, err
}

func (x *exchange) linkToMail(tx store.Tx, ttl time.Duration) (store.Answer, error) {
	to, err := store.QueueSignInLink(tx, x.org(), x.param("userId"), ttl)
	return web.JSON(http.StatusAccepted, newObject().text("mailedTo", to).end()), err
}
