package settings

import (
	"net/http"

	"teamdata/store"
)

// linkPage is what link.html is filled with.
type linkPage struct {
	Path  string // of the page itself
	Who   store.Account
	Orgs  []store.Org // that the person manages
	Error *store.Error
}

// showLink shows the form of a sign-in link. The link stays good: programs that
// look through mail follow links too.
func (r *request) showLink() error {
	p, err := r.findLink()
	if err != nil {
		return r.linkRefused(err)
	}
	return r.render(http.StatusOK, "signin_link", p)
}

// findLink is what there is to say of the link in the path.
func (r *request) findLink() (p linkPage, err error) {
	r.keepPathSecret()
	p.Path = r.HTTP.URL.Path
	err = r.s.store.View(r.HTTP.Context(), func(tx store.Tx) error {
		r.now = tx.Now()
		l, err := store.FindSignInLink(tx, r.param(tokenParam))
		if err != nil {
			return err
		}
		if p.Who, err = tx.Account(l.UserID); err != nil {
			return err
		}
		p.Orgs, err = managedOrgs(tx, l.UserID)
		return err
	})
	return p, err
}

// keepPathSecret keeps the path, which holds a token, out of the header Referer.
// Of forms the browser still tells the origin.
func (r *request) keepPathSecret() { r.W.Header().Set("Referrer-Policy", "strict-origin") }

// useLink sets the password that was chosen, uses up the link, and signs in.
func (r *request) useLink() error {
	p, err := r.findLink()
	if err != nil {
		return r.linkRefused(err)
	}
	hash, err := r.newHash(p.Who)
	if e, ok := formError(err); ok {
		p.Error = e
		return r.render(e.Code.Status(), "signin_link", p)
	}
	if err != nil {
		return err
	}
	err = r.begin(p.Who.UserID, "link", func(tx store.Tx) error {
		_, err := store.UseSignInLink(tx, r.param(tokenParam), hash)
		return err
	})
	if err != nil {
		return r.linkRefused(err)
	}
	r.logPassword(p.Who.UserID, "link")
	if r.s.passkeys != nil {
		return r.done("welcome", Path+"/account")
	}
	return r.redirect(Path)
}

// linkRefused is the page of a link that can't be used any more.
func (r *request) linkRefused(err error) error {
	if store.CodeOf(err) != store.CodeUnauthorized {
		return err
	}
	return r.render(http.StatusGone, "signin_link_refused", r.s.config.Mailed != nil)
}

// newHash is the hash of the password that a form chooses for an account: its
// fields are password, and again. badRequest: it may not have that.
func (r *request) newHash(a store.Account) (string, error) {
	password := r.field("password")
	if err := store.CheckPassword(a, password); err != nil {
		return "", err
	}
	if r.field("again") != password {
		return "", store.Invalid("again", "does not match the new password")
	}
	return r.s.passwords.Hash(r.HTTP.Context(), password)
}

func (r *request) logPassword(userID, how string) {
	r.s.config.Log.Info().Str("user", userID).Stringer("client", r.address()).Str("how", how).Msg("settings: a password was set")
}

// managedOrgs are the orgs that a user manages, in the order of their ids.
func managedOrgs(tx store.Tx, userID string) (orgs []store.Org, err error) {
	ids, err := tx.ManagedOrgs(userID)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		org, err := tx.Org(id)
		if err != nil {
			return nil, err
		}
		orgs = append(orgs, org)
	}
	return orgs, nil
}
