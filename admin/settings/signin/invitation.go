package signin

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"teamdata/store"
)

// memberForm is the form that invites a member, with what the person entered.
type memberForm struct {
	Err         *store.Error // nil: nothing is wrong
	Name, Email string
	SignInName  string // without mail; empty: made of the address
	Role        string
	Roles       []roleChoice
	Mail        bool // there is a mail server
}

// roleChoice is a role that the form offers.
type roleChoice struct{ Role, Means string }

var roleMeanings = []roleChoice{
	{store.RoleOwner, "manages everything, and makes others owners"},
	{store.RoleAdmin, "manages keys, endpoints and members"},
	{store.RoleViewer, "sees everything but secrets, and changes nothing"},
}

// ShowInvite shows the form that invites a member.
func (r *Request) ShowInvite() error {
	return r.renderMemberForm(http.StatusOK, memberForm{Role: store.RoleAdmin})
}

func (r *Request) renderMemberForm(status int, f memberForm) error {
	f.Mail = r.s.config.Mailed != nil
	return r.Page.Show(status, "member_form", &f, func(store.Tx) error {
		may := r.RolesToGive(store.InvitedRoles)
		for _, c := range roleMeanings {
			if slices.Contains(may, c.Role) {
				f.Roles = append(f.Roles, c)
			}
		}
		return nil
	})
}

// RolesToGive are the ones among some roles that the person may give.
func (r *Request) RolesToGive(roles []string) (may []string) {
	for _, role := range roles {
		if store.CheckGivesRole(r.Member, "", role) == nil {
			may = append(may, role)
		}
	}
	return may
}

// ShowInviteAgain shows the form as it was sent, with the error.
func (r *Request) ShowInviteAgain(status int, e *store.Error) error {
	return r.renderMemberForm(status, memberForm{Err: e, Name: r.Field("name"), Email: r.Field("email"), SignInName: r.Field("signInName"), Role: r.Field("role")})
}

// invitedPage is the data of member_invited.html, the only page that shows the link.
type invitedPage struct {
	Member  store.Member
	Link    string        // empty: the person has an account already, and needs none
	Account store.Account // that the link is of
	Until   time.Time     // the link works
	Home    string        // where to sign in, without https://
}

// Invite adds a member and mails a sign-in link. The addresses of all members are
// compared before the transaction: there may be many.
func (r *Request) Invite() error {
	email := strings.TrimSpace(r.Field("email"))
	taken := store.CheckInvited(r.HTTP.Context(), r.s.store, r.Org.ID, email)
	if store.CodeOf(taken) == store.CodeInternal {
		return taken
	}
	limited := r.TryMail(r.Org.ID, email)
	name := cmp.Or(strings.TrimSpace(r.Field("signInName")), store.DefaultSignInName(email))
	return r.invite(r.ShowInviteAgain, name, func(tx store.Tx) (store.Member, error) {
		m := store.Member{OrgID: r.Org.ID, Role: r.Field("role"), Name: strings.TrimSpace(r.Field("name")), Email: email}
		for _, err := range []error{store.CheckGivesRole(r.Member, "", m.Role), taken, limited} {
			if err != nil {
				return m, err
			}
		}
		return store.Invite(tx, r.Account.UserID, m)
	})
}

// InviteAgain sends another link to a member who has not signed in yet. The earlier
// one stays valid: its mail may have arrived after all. showMember shows the member's page
// with an error.
func (r *Request) InviteAgain(showMember func(status int, e *store.Error) error) error {
	var limited error
	err := r.Page.View(func(tx store.Tx) error {
		m, err := r.MemberOfPath(tx)
		if err == nil {
			limited = r.TryMail(r.Org.ID, m.Email)
		}
		return err
	})
	if err != nil {
		return err
	}
	return r.invite(showMember, "", func(tx store.Tx) (store.Member, error) {
		m, err := r.MemberOfPath(tx)
		if err == nil {
			err = store.CheckGivesRole(r.Member, m.Role, m.Role)
		}
		if err != nil {
			return m, err
		}
		switch state, err := SignInOf(tx, m); {
		case err != nil:
			return m, err
		case state == SignInUsed:
			return m, store.Errorf(store.CodeConflict, "They have signed in already.").Advise("Whoever lost the password gets a link on the sign-in page.")
		}
		return m, limited
	})
}

// invite finds or adds a member in a transaction that also makes the sign-in link, and
// shows that the link is mailed, or the link itself where there is no mail server. The name
// is one to sign in with, for an account without mail. Again shows the form when it is
// refused.
func (r *Request) invite(again func(status int, e *store.Error) error, name string, find func(tx store.Tx) (store.Member, error)) error {
	var p invitedPage
	mail := r.s.config.Mailed != nil
	r.ExtraScope = store.All // an account with the address is looked for among all
	id, sent, err := r.Page.ChangeOnce(func(tx store.Tx) (string, error) {
		m, err := find(tx)
		if err != nil {
			return "", err
		}
		p.Member = m
		if mail {
			_, err = store.QueueSignInLink(tx, r.Org.ID, m.UserID, store.InvitationTTL)
		} else {
			err = r.linkToShow(tx, name, &p)
		}
		if mail || p.Link != "" {
			err = store.AuditAccount(err, tx, r.Account.UserID, m.UserID, store.AuditLinkCreated)
		}
		return m.UserID, err
	})
	switch {
	case err != nil:
		return r.OnForm(err, again)
	case mail:
		r.s.config.Mailed()
		return r.Page.Done("member-invited", r.memberPath(id))
	case sent:
		return r.Redirect(r.memberPath(id))
	}
	return r.Page.Show(http.StatusCreated, "member_invited", &p, nil)
}

// memberPath is the path of a member's page.
func (r *Request) memberPath(userID string) string {
	return r.s.config.Path + "/orgs/" + url.PathEscape(r.Org.ID) + "/members/" + url.PathEscape(userID)
}

// How far a member has come with signing in.
const (
	SignInUninvited = "uninvited" // there is no account
	SignInInvited   = "invited"   // nobody has signed in yet
	SignInUsed      = "used"
)

// SignInOf finds out how far a member has come with signing in; empty if the role can't
// sign in.
func SignInOf(tx store.Tx, m store.Member) (string, error) {
	if !m.MaySee() {
		return "", nil
	}
	a, err := tx.Account(m.UserID)
	switch {
	case store.IsNotFound(err):
		return SignInUninvited, nil
	case a.SignedIn():
		return SignInUsed, err
	}
	return SignInInvited, err
}

// linkToShow fills in a link of the page's member; none, if they sign in as before.
func (r *Request) linkToShow(tx store.Tx, name string, p *invitedPage) error {
	m := p.Member
	token, err := store.LinkToShow(tx, r.Org.ID, m.UserID, name, store.InvitationTTL)
	if e, ok := errors.AsType[*store.Error](err); ok && e.Code == store.CodeConflict && e.Field == "" && m.MaySee() {
		return nil
	}
	if err != nil {
		return err
	}
	home := strings.TrimSuffix(r.s.config.PublicURL.String(), "/") + r.s.config.Path
	p.Link, p.Home, p.Until = home+"/link/"+token, strings.TrimPrefix(home, "https://"), tx.Now().Add(store.InvitationTTL)
	p.Account, err = tx.Account(m.UserID)
	return err
}
