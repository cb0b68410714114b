package store

import (
	"cmp"
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
// A person who has an account with that address keeps its user id, unless nobody has proven
// that address: the account may be somebody else's. Anybody else gets a new user id, not made
// of the address: users span orgs, and an id that somebody has already would let the two be
// one. Its scope is All. conflict: the person is a member already.
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
	case IsNotFound(err), err == nil && a.SignInName != "":
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
// on, and returns its token. The account gets a sign-in name, unless it has one: name, or when
// that is empty the DefaultSignInName, if it is free. Whoever has the link is that person, so
// it is refused where that would be more than the one who asks may do: once the account was
// used, or while it may see another org. conflict: it is refused, or, in the field signInName,
// the name is taken; badRequest: the name is not allowed; else as CreateSignInLink.
func LinkToShow(tx Tx, orgID, userID, name string, ttl time.Duration) (token string, err error) {
	m, err := findViewer(tx, orgID, userID, ttl)
	if err != nil {
		return "", err
	}
	a, err := accountOrNew(tx, userID)
	if err != nil {
		return "", err
	}
	orgs, err := tx.VisibleOrgs(userID)
	if err != nil {
		return "", err
	}
	if a.SignedIn() || slices.ContainsFunc(orgs, func(id string) bool { return id != orgID }) {
		return "", Errorf(CodeConflict, "This person has an account already, and signs in as before.").Advise("The operator of the server can make a link for a lost password: teamdata signin-link %s", userID)
	}
	if err := a.takeName(tx, m, name); err != nil {
		return "", err
	}
	other, err := otherWithAddress(tx, a, m)
	if err != nil {
		return "", err
	}
	if a.Email = ""; a.SignInName != "" && other.UserID == "" {
		a.Email = ASCIIAddress(m.Email)
	}
	if err := tx.PutAccount(a); err != nil {
		return "", err
	}
	_, token, err = newSignInLink(tx, userID, ttl)
	return token, err
}

// takeName gives the account a sign-in name, unless it has one. The caller stores it.
func (a *Account) takeName(tx Tx, m Member, name string) error {
	if a.SignInName != "" {
		return nil
	}
	given := name != ""
	if a.SignInName = name; !given {
		a.SignInName = DefaultSignInName(m.Email)
	}
	err := checkSignInName(tx, a.SignInName)
	if !given && (a.SignInName == "" || CodeOf(err) == CodeConflict) {
		a.SignInName = "" // the user id is left
		return nil
	}
	return err
}

const signInNameBytes = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"

// DefaultSignInName is made of the part of an address before the @; empty if that has no
// character that a sign-in name may have.
func DefaultSignInName(address string) string {
	local, _, _ := strings.Cut(address, "@")
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune(signInNameBytes, r) {
			return r
		}
		return -1
	}, local)
	return name[:min(len(name), MaxSignInName)]
}

var errNameTaken = &Error{Code: CodeConflict, Field: "signInName", Message: "is taken", Advice: "choose another one"}

// checkSignInName checks a name for a new account, which may not be one that a person signs
// in with, whatever its case, nor the user id of one. conflict: it is.
func checkSignInName(tx Tx, name string) error {
	if name == "" || len(name) > MaxSignInName || strings.Trim(name, signInNameBytes) != "" {
		return Invalid("signInName", "must be 1 to %d of A-Z a-z 0-9 . _ and -", MaxSignInName)
	}
	if _, err := FindAccount(tx, name); !IsNotFound(err) {
		return cmp.Or[error](err, errNameTaken)
	}
	orgs, err := tx.VisibleOrgs(name)
	if err == nil && len(orgs) > 0 {
		return errNameTaken
	}
	return err
}
