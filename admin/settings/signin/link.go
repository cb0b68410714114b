package signin

import (
	"context"
	"net/http"
	"strings"
	"time"

	"teamdata/store"
)

// linkPage is the data of signin_link.html.
type linkPage struct {
	Path   string // of the page itself
	Who    store.Account
	Orgs   []store.Org // that the person may see
	Portal store.Portal
	Keep   bool // the passkeys stay
	Error  *store.Error

	link store.SignInLink
}

// ShowLink shows the form of a sign-in link, or the button of a portal link. The link stays valid, because programs
// that scan mail follow links too.
func (r *Request) ShowLink() error {
	p, err := r.findLink()
	if err != nil {
		return r.refuseLink(err)
	}
	if p.Portal.Is() {
		return r.Page.Render(http.StatusOK, "portal_link", p)
	}
	return r.Page.Render(http.StatusOK, "signin_link", p)
}

// findLink finds the link of the path, and its account.
func (r *Request) findLink() (p linkPage, err error) {
	r.W.Header().Set("Referrer-Policy", "strict-origin") // not the path, which contains a token; forms still send the origin
	p.Path = r.HTTP.URL.Path
	err = r.s.store.View(r.HTTP.Context(), func(tx store.Tx) error {
		r.Now = tx.Now()
		l, err := store.FindSignInLink(tx, r.Param("token"))
		if err != nil {
			return err
		}
		if p.link, p.Portal = l, l.Portal; p.Portal.Is() {
			p.Who.UserID = l.UserID
			org, err := tx.Org(p.Portal.OrgID)
			p.Orgs = []store.Org{org}
			return err
		}
		if r.Framed() {
			return ErrFrame
		}
		if p.Who, err = tx.Account(l.UserID); err != nil {
			return err
		}
		p.Orgs, err = visibleOrgs(tx, l.UserID)
		return err
	})
	return p, err
}

// UseLink sets the chosen password, uses up the link, and signs in; a portal link signs
// in without one.
func (r *Request) UseLink() error {
	p, err := r.findLink()
	if err != nil {
		return r.refuseLink(err)
	}
	if p.Portal.Is() {
		return r.usePortalLink(p.link)
	}
	p.Keep = r.Field("keepPasskeys") != ""
	hash, err := r.newHash(p.Who)
	if err != nil {
		return r.OnForm(err, func(status int, e *store.Error) error {
			p.Error = e
			return r.Page.Render(status, "signin_link", p)
		})
	}
	err = r.startSession(p.Who.UserID, "link", func(tx store.Tx) error {
		_, err := store.UseSignInLink(tx, r.Param("token"), hash, p.Keep)
		return err
	})
	if err != nil {
		return r.refuseLink(err)
	}
	r.logPassword(p.Who.UserID, "link")
	if n := len(p.Who.Passkeys); n > 0 && !p.Keep {
		r.logEvent(p.Who.UserID).Int("passkeys", n).Msg("settings: the passkeys were removed")
	}
	return r.Page.Done("welcome", r.s.config.Path)
}

// refuseLink answers a link that is no longer valid.
func (r *Request) refuseLink(err error) error {
	if store.CodeOf(err) != store.CodeUnauthorized {
		return err
	}
	if r.Framed() {
		return r.Page.Render(http.StatusGone, "portal_over", nil)
	}
	return r.Page.Render(http.StatusGone, "signin_link_refused", r.s.config.Mailed != nil)
}

// forgotPage is the data of signin_forgot.html.
type forgotPage struct {
	Mail  bool // there is a mail server
	Sent  bool // a link is sent if there is such an account
	Error *store.Error
}

// ShowForgot shows the form that mails a sign-in link.
func (r *Request) ShowForgot() error {
	return r.Page.Render(http.StatusOK, "signin_forgot", forgotPage{Mail: r.s.config.Mailed != nil})
}

// SendForgotten mails a link to the named account. The answer and its timing
// don't reveal whether there is such an account: it is looked up afterwards.
func (r *Request) SendForgotten() error {
	if r.s.config.Mailed == nil {
		return r.ShowForgot()
	}
	name := strings.TrimSpace(r.Field("name"))
	if err := r.readTime(); err != nil {
		return err
	}
	if err := r.tryClient(); err != nil {
		return r.OnForm(err, func(status int, e *store.Error) error {
			return r.Page.Render(status, "signin_forgot", forgotPage{Mail: true, Error: e})
		})
	}
	var userID string
	mail := func(ctx context.Context, s store.Store) error {
		if ok, err := r.s.tryForgotten(ctx, name, r.Now); err != nil || !ok {
			return err
		}
		return s.Update(ctx, store.All, func(tx store.Tx) (err error) {
			userID, err = mailForgotten(tx, name)
			return err
		})
	}
	r.inBackground("mail a sign-in link", mail, func() {
		r.s.config.Mailed()
		if userID != "" {
			r.auditStranger(userID, store.AuditLinkCreated)
		}
	})
	return r.Page.Render(http.StatusOK, "signin_forgot", forgotPage{Mail: true, Sent: true})
}

// tryForgotten counts a mail to the address of a named account, whatever it is called here.
// It reports whether there is such an address, and has not had too many lately.
func (s *Service) tryForgotten(ctx context.Context, name string, now time.Time) (bool, error) {
	var to string
	err := s.store.View(ctx, func(tx store.Tx) error {
		a, err := store.FindAccount(tx, name)
		to = a.Email
		return ignoreNotFound(err)
	})
	if err != nil || to == "" {
		return false, err
	}
	d, err := s.throttle.mail.Take(ctx, hashOf(to), now)
	return d.OK, err
}

// mailForgotten queues a link for an account, to its own address, and returns whose
// account that is; empty: no link was queued. One of the orgs
// that the person manages must list that address.
func mailForgotten(tx store.Tx, name string) (userID string, err error) {
	a, err := store.FindAccount(tx, name)
	if err != nil || a.Email == "" {
		return "", ignoreNotFound(err)
	}
	orgs, err := tx.VisibleOrgs(a.UserID)
	if err != nil {
		return "", err
	}
	for _, id := range orgs {
		m, err := tx.Member(id, a.UserID)
		if err != nil {
			return "", err
		}
		if store.SameAddress(m.Email, a.Email) {
			_, err := store.QueueSignInLink(tx, id, a.UserID, store.MailedSignInLinkTTL)
			return a.UserID, err
		}
	}
	return "", nil
}

func ignoreNotFound(err error) error {
	if store.IsNotFound(err) {
		return nil
	}
	return err
}
