package admin

import (
	"net/http"
	"time"

	"teamdata/store"
)

// createPortalLink makes a link that signs a person in to the settings page of the
// org, who need not be a member.
func (r *request) createPortalLink() error {
	p, userID, ttl := store.Portal{OrgID: r.org()}, "", int64(store.MaxPortalLinkTTL/time.Second)
	in := r.in
	r.read(in.Text("userId", &userID), in.Text("role", &p.Role), in.Text("name", &p.Name), in.Text("email", &p.Email),
		in.Int("expiresInSeconds", &ttl, 1, ttl))
	r.beyond = store.OfUser(userID)
	return r.idempotent(func(tx store.Tx) (store.Answer, error) {
		if r.api.config.LinkURL == nil {
			return store.Answer{}, errNoAddress
		}
		l, token, err := store.CreatePortalLink(tx, r.actor, userID, p, time.Duration(ttl)*time.Second)
		record := newObject().text("id", l.ID).text("userId", l.UserID).text("role", l.Portal.Role).time("createdAt", l.CreatedAt).time("expiresAt", l.ExpiresAt)
		return withSecret(http.StatusCreated, record, "url", r.api.config.LinkURL(token), "token", token), err
	})
}
