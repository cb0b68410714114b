package store

import (
	"context"
	"slices"
	"strings"
	"time"
)

// InvitationTTL is how long the link of an invitation is valid.
const InvitationTTL = MaxSignInLinkTTL

// InvitedRoles are the roles that a person can be invited with: those that let people
// sign in.
var InvitedRoles = []string{RoleOwner, RoleAdmin, RoleViewer}

// Invite adds a person as owner, admin or viewer by their address, as AddMember does.
// Who has an account with that address keeps the user id of it. Anybody else gets a new
// one, not made of the address: users span orgs, and an id that somebody has already
// would let the two be one. Its scope is All. conflict: the person is a member already.
func Invite(tx Tx, actorID string, m Member) (Member, error) {
	if !slices.Contains(InvitedRoles, m.Role) {
		return Member{}, Invalid("role", "must be %s", strings.Join(InvitedRoles, ", "))
	}
	if m.Email == "" {
		return Member{}, Invalid("email", "is missing or empty")
	}
	if err := checkAddress("email", m.Email); err != nil {
		return Member{}, err
	}
	a, err := accountByAddress(tx, m.Email)
	switch {
	case IsNotFound(err):
		m.UserID = tx.NewID(PrefixUser)
	case err != nil:
		return Member{}, err
	default:
		m.UserID = a.UserID
	}
	switch old, err := tx.Member(m.OrgID, m.UserID); {
	case err == nil:
		return Member{}, hasAddress(old)
	case !IsNotFound(err):
		return Member{}, err
	}
	return AddMember(tx, actorID, m)
}

// CheckInvited checks that no member of an org has an address, whatever its form. It
// reads all members, in small transactions. conflict: the one who has it is named.
func CheckInvited(ctx context.Context, s Store, orgID, email string) error {
	const step = 1000
	for after, more := (Cursor{}), email != ""; more; {
		err := s.View(ctx, func(tx Tx) error {
			page, members, err := tx.ListMembers(orgID, after, step)
			if err != nil {
				return err
			}
			for _, m := range members {
				if SameAddress(m.Email, email) {
					return hasAddress(m)
				}
			}
			after, more = page.Last, page.More
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func hasAddress(m Member) error {
	who := m.UserID
	if m.Name != "" {
		who = m.Name
	}
	e := &Error{Code: CodeConflict, Field: "email", Message: who + " has this address, and is a member with the role " + m.Role + " already"}
	return e.Advise("change the role on that member's page instead")
}

// CheckGivesRole checks that a member may change somebody's role, of which an empty one
// stands for no membership: only owners make owners, and end that. forbidden: the
// member does not manage the org, or is no owner.
func CheckGivesRole(by Member, from, to string) error {
	switch {
	case !by.Manages():
		return Errorf(CodeForbidden, "Only owners and admins of the org can manage its members.")
	case by.Role != RoleOwner && (from == RoleOwner || to == RoleOwner):
		return Errorf(CodeForbidden, "Only an owner can make someone an owner, or change an owner's role.").Advise("Ask an owner of the org.")
	}
	return nil
}

// LinkToShow makes a sign-in link that another member of the org gets to see, to pass it
// on. Whoever has the link is that person, so it is refused where that would be more
// than the one who asks may do: once the account was used, or while it may see another
// org. conflict: it is refused; else as CreateSignInLink.
func LinkToShow(tx Tx, orgID, userID string, ttl time.Duration) (token string, err error) {
	a, err := tx.Account(userID)
	if err != nil && !IsNotFound(err) {
		return "", err
	}
	orgs, err := tx.VisibleOrgs(userID)
	if err != nil {
		return "", err
	}
	if a.SignedIn() || slices.ContainsFunc(orgs, func(id string) bool { return id != orgID }) {
		return "", Errorf(CodeConflict, "This person has an account already, and signs in as before.").Advise("The operator of the server can make a link for a lost password: teamdata signin-link %s", userID)
	}
	if _, token, err = CreateSignInLink(tx, orgID, userID, ttl); err != nil {
		return "", err
	}
	return token, changeAccount(tx, userID, func(a *Account) error { a.Email = ""; return nil })
}
