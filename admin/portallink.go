package admin

import (
	"cmp"
	"net/http"

	"teamdata/client/admin/api"
	"teamdata/store"
	"teamdata/wire/web"
)

// createPortalLink makes a link that signs a person in to the settings page of the
// org, who need not be a member.
func (r *request) createPortalLink() error {
	b := decode[api.NewPortalLink](r)
	p := store.Portal{OrgID: r.org(), Role: string(b.Role), Name: orZero(b.Name), Email: orZero(b.Email)}
	ttl := cmp.Or(seconds(b.ExpiresInSeconds), store.MaxPortalLinkTTL)
	r.beyond = store.OfUser(b.UserID)
	return r.idempotent(func(tx store.Tx) (store.Answer, error) {
		if r.api.config.LinkURL == nil {
			return store.Answer{}, errNoAddress
		}
		l, token, err := store.CreatePortalLink(tx, r.actor, b.UserID, p, ttl)
		record := newObject().text("id", l.ID).text("userId", l.UserID).text("role", l.Portal.Role).time("createdAt", l.CreatedAt).time("expiresAt", l.ExpiresAt)
		return withSecret(http.StatusCreated, record, "url", r.api.config.LinkURL(token), "token", token), err
	})
}

func portalSessionJSON(s store.Session) []byte {
	return newObject().text("id", s.ID).text("userId", s.UserID).text("role", s.Portal.Role).text("name", s.Portal.Name).text("email", s.Portal.Email).
		text("userAgent", s.UserAgent).time("createdAt", s.CreatedAt).time("lastSeenAt", s.LastSeenAt).end()
}

func (r *request) listPortalSessions() error {
	return r.page(func(tx store.Tx, q web.PageQuery) (store.Page, error) {
		sessions, last, more, err := store.PortalSessions(tx, r.org(), q.After.ID, q.Limit)
		page := store.Page{Items: []byte(web.PageStart)}
		for _, s := range sessions {
			page = withItem(page, portalSessionJSON(s))
		}
		page.Last, page.More = store.Cursor{ID: last}, more
		return page, err
	})
}

func (r *request) endPortalSession() error {
	r.beyond = store.All // whose it is, is found out
	return r.update(func(tx store.Tx) (store.Answer, error) {
		return noContent, store.EndPortalSession(tx, r.actor, r.org(), r.Param("session"))
	})
}
