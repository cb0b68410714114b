package settings

import (
	"net/http"
	"slices"
	"strings"

	"teamdata/store"
)

// memberForm is the form that invites a member, with what the person entered.
type memberForm struct {
	Err         *store.Error // nil: nothing is wrong
	Name, Email string
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

func (r *request) newMember() error {
	return r.renderMemberForm(http.StatusOK, memberForm{Role: store.RoleAdmin})
}

func (r *request) renderMemberForm(status int, f memberForm) error {
	f.Mail = r.s.config.Mailed != nil
	return r.show(status, "member_form", &f, func(store.Tx) error {
		may := rolesFor(r.member, store.InvitedRoles)
		for _, c := range roleMeanings {
			if slices.Contains(may, c.Role) {
				f.Roles = append(f.Roles, c)
			}
		}
		return nil
	})
}

// rerenderMemberForm shows the form as it was sent, with the error.
func (r *request) rerenderMemberForm(status int, e *store.Error) error {
	return r.renderMemberForm(status, memberForm{Err: e, Name: r.Field("name"), Email: r.Field("email"), Role: r.Field("role")})
}

// invitedPage is the data of member_invited.html, the only page that shows the link.
type invitedPage struct {
	Who  person
	Link string // empty: the person has an account already, and needs none
}

// inviteMember adds a member and mails a sign-in link. The addresses of all members are
// compared before the transaction: there may be many.
func (r *request) inviteMember() error {
	if err := r.View(nil); err != nil {
		return err
	}
	email := strings.TrimSpace(r.Field("email"))
	taken := store.CheckInvited(r.HTTP.Context(), r.s.store, r.org.ID, email)
	if store.CodeOf(taken) == store.CodeInternal {
		return taken
	}
	limited := r.TryMail(r.org.ID, email)
	return r.invite(r.rerenderMemberForm, func(tx store.Tx) (store.Member, error) {
		m := store.Member{OrgID: r.org.ID, Role: r.Field("role"), Name: strings.TrimSpace(r.Field("name")), Email: email}
		for _, err := range []error{store.CheckGivesRole(r.member, "", m.Role), taken, limited} {
			if err != nil {
				return m, err
			}
		}
		return store.Invite(tx, r.actor(), m)
	})
}

// inviteAgain sends another link to a member who has not signed in yet. The earlier
// one stays valid: its mail may have arrived after all.
func (r *request) inviteAgain() error {
	var limited error
	err := r.View(func(tx store.Tx) error {
		m, err := r.memberOfPath(tx)
		if err == nil {
			limited = r.TryMail(r.org.ID, m.Email)
		}
		return err
	})
	if err != nil {
		return err
	}
	return r.invite(r.renderMember, func(tx store.Tx) (store.Member, error) {
		m, err := r.memberOfPath(tx)
		if err == nil {
			err = store.CheckGivesRole(r.member, m.Role, m.Role)
		}
		if err != nil {
			return m, err
		}
		switch state, err := signInOf(tx, m); {
		case err != nil:
			return m, err
		case state == signInUsed:
			return m, store.Errorf(store.CodeConflict, "They have signed in already.").Advise("Whoever lost the password gets a link on the sign-in page.")
		}
		return m, limited
	})
}

// invite finds or adds a member in a transaction that also makes the sign-in link, and
// shows that the link is mailed, or the link itself where there is no mail server. Again
// shows the form when it is refused.
func (r *request) invite(again func(status int, e *store.Error) error, find func(tx store.Tx) (store.Member, error)) error {
	var p invitedPage
	mail := r.s.config.Mailed != nil
	r.extraScope = store.All // an account with the address is looked for among all
	id, sent, err := r.changeOnce(func(tx store.Tx) (string, error) {
		m, err := find(tx)
		if err != nil {
			return "", err
		}
		p.Who = r.memberAsPerson(m)
		if mail {
			_, err = store.QueueSignInLink(tx, r.org.ID, m.UserID, store.InvitationTTL)
		} else {
			p.Link, err = r.linkToShow(tx, m)
		}
		if mail || p.Link != "" {
			err = store.AuditAccount(err, tx, r.actor(), m.UserID, store.AuditLinkCreated)
		}
		return m.UserID, err
	})
	switch {
	case err != nil:
		return onForm(err, again)
	case mail:
		r.s.config.Mailed()
		return r.Done("member-invited", r.path("members", id))
	case sent:
		return r.Redirect(r.path("members", id))
	}
	return r.show(http.StatusCreated, "member_invited", &p, nil)
}

// linkToShow is the address of a link for a member; empty: they sign in as before.
func (r *request) linkToShow(tx store.Tx, m store.Member) (string, error) {
	token, err := store.LinkToShow(tx, r.org.ID, m.UserID, store.InvitationTTL)
	switch {
	case store.CodeOf(err) == store.CodeConflict && m.MaySee():
		return "", nil
	case err != nil:
		return "", err
	}
	return r.s.config.PublicURL + Path + "/link/" + token, nil
}
