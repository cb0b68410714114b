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
func (v *visit) showLink() error {
	p, err := v.findLink()
	if err != nil {
		return v.linkRefused(err)
	}
	return v.render(http.StatusOK, "link", p)
}

// findLink is what there is to say of the link in the path.
func (v *visit) findLink() (p linkPage, err error) {
	v.keepPathSecret()
	p.Path = v.r.URL.Path
	err = v.s.store.View(v.r.Context(), func(tx store.Tx) error {
		v.now = tx.Now()
		l, err := store.FindSignInLink(tx, v.param(tokenParam))
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
func (v *visit) keepPathSecret() { v.w.Header().Set("Referrer-Policy", "strict-origin") }

// useLink sets the password that was chosen, uses up the link, and signs in.
func (v *visit) useLink() error {
	p, err := v.findLink()
	if err != nil {
		return v.linkRefused(err)
	}
	hash, err := v.newHash(p.Who)
	if e, ok := formError(err); ok {
		p.Error = e
		return v.render(e.Code.Status(), "link", p)
	}
	if err != nil {
		return err
	}
	err = v.begin(p.Who.UserID, "link", func(tx store.Tx) error {
		_, err := store.UseSignInLink(tx, v.param(tokenParam), hash)
		return err
	})
	if err != nil {
		return v.linkRefused(err)
	}
	v.logPassword(p.Who.UserID, "link")
	if v.s.passkeys != nil {
		return v.done("welcome", Path+"/account")
	}
	return v.redirect(Path)
}

// linkRefused is the page of a link that can't be used any more.
func (v *visit) linkRefused(err error) error {
	if store.CodeOf(err) != store.CodeUnauthorized {
		return err
	}
	return v.render(http.StatusGone, "link_refused", v.s.config.Mailed != nil)
}

// newHash is the hash of the password that a form chooses for an account: its
// fields are password, and again. badRequest: it may not have that.
func (v *visit) newHash(a store.Account) (string, error) {
	password := v.field("password")
	if err := store.CheckPassword(a, password); err != nil {
		return "", err
	}
	if v.field("again") != password {
		return "", store.Invalid("again", "is not the same as the password")
	}
	return v.s.passwords.Hash(v.r.Context(), password)
}

func (v *visit) logPassword(userID, how string) {
	v.s.config.Log.Info().Str("user", userID).Stringer("client", v.address()).Str("how", how).Msg("settings: a password was set")
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
