package store

import (
	"cmp"
	"time"

	"teamdata/store/rows"
)

// Portal is what a portal link gives a person, and then the session that it begins:
// the settings page of one org with one role, without a password, an account or a
// membership. The zero Portal is that of links and sessions of accounts.
type Portal struct {
	OrgID      string // empty: the session is one of its user's account, and the link lets its user choose a password
	Role       string // viewer or admin
	Name       string // for people; may be empty
	Email      string // for people; may be empty
	Membership string // id and role of the person's membership in the org as the link was made, such as `mem_1 member`; empty: there was none. Link and session count only while it is still so
}

// portalFields are the end of a link's or a session's record.
func portalFields(c *rows.Codec, p *Portal) {
	c.Text(&p.OrgID)
	c.Text(&p.Role)
	c.Text(&p.Name)
	c.Text(&p.Email)
	c.Text(&p.Membership)
}

// How long a portal link is valid, and the session that it begins.
const (
	MaxPortalLinkTTL = time.Hour
	PortalSessionAge = 12 * time.Hour
)

// Is reports whether the link or session is one of a portal.
func (p Portal) Is() bool { return p.OrgID != "" }

// Member is the person as a member of the org that the portal is for. No list of
// members has it.
func (p Portal) Member(userID string) Member {
	return Member{OrgID: p.OrgID, UserID: userID, Role: p.Role, Name: p.Name, Email: p.Email}
}

// Holds reports whether the org is still there, and the person's membership as it was.
func (p Portal) Holds(tx Tx, userID string) (bool, error) {
	if _, err := tx.Org(p.OrgID); err != nil {
		return false, unlessNotFound(err)
	}
	m, err := tx.Member(p.OrgID, userID)
	return membership(m) == p.Membership, unlessNotFound(err)
}

func membership(m Member) string {
	if m.UserID == "" {
		return ""
	}
	return m.ID + " " + m.Role
}

// CreatePortalLink creates a link that signs a person in to the settings page of an
// org, with the audit entry portalLink.created, and returns it with its token, which
// is not stored. The person need not be a member; a member's name and address are
// those of the membership, unless p has others. badRequest: the role is neither viewer
// nor admin, or another value is not allowed; notFound: there is no such org.
func CreatePortalLink(tx Tx, actorID, userID string, p Portal, ttl time.Duration) (l SignInLink, token string, err error) {
	m, err := tx.Member(p.OrgID, userID)
	if err := cmp.Or(checkPortal(userID, p, ttl), checkOrg(tx, p.OrgID), unlessNotFound(err)); err != nil {
		return l, "", err
	}
	p.Name, p.Email, p.Membership = cmp.Or(p.Name, m.Name), cmp.Or(p.Email, m.Email), membership(m)
	secret := NewSecret()
	l = SignInLink{
		ID: tx.NewID(PrefixSignInLink), UserID: userID, SecretHash: HashSecret(secret),
		CreatedAt: tx.Now(), ExpiresAt: tx.Now().Add(ttl), Portal: p,
	}
	return l, l.ID + "." + secret, auditBy(tx.PutSignInLink(l), tx, actorID, p.OrgID, auditPortalMade, userID)
}

func checkPortal(userID string, p Portal, ttl time.Duration) error {
	switch {
	case ttl <= 0 || ttl > MaxPortalLinkTTL:
		return Invalid("expiresInSeconds", "must be more than 0 and at most %d", MaxPortalLinkTTL/time.Second)
	case p.Role != RoleViewer && p.Role != RoleAdmin:
		return Invalid("role", "must be viewer or admin")
	}
	return cmp.Or(checkID("userId", userID), checkName("name", p.Name, maxNameLength), checkAddress("email", p.Email))
}

// UsePortalLink uses up a portal link and starts its session, with the audit entry
// portalLink.used. It returns the session with the cookie's value, which is not stored.
// unauthorized: as FindSignInLink, or the link is one that lets a password be chosen.
func UsePortalLink(tx Tx, token, userAgent string) (s Session, cookie string, err error) {
	l, err := FindSignInLink(tx, token)
	if err != nil {
		return s, "", err
	}
	if !l.Portal.Is() {
		return s, "", errLinkRefused
	}
	if err := tx.DeleteSignInLink(l.ID); err != nil {
		return s, "", err
	}
	s, cookie = newSession(tx, l.UserID, userAgent)
	s.Portal = l.Portal
	return s, cookie, auditBy(tx.PutSession(s), tx, l.UserID, l.Portal.OrgID, auditPortalUsed, l.UserID)
}

// PortalSessions lists up to limit portal sessions of an org that hold, oldest first,
// after the session with an id; from the first when that is empty. It looks at some
// sessions of all orgs and accounts: last is the latest of them, and more whether there
// may be others after it.
func PortalSessions(tx Tx, orgID, after string, limit int) (found []Session, last string, more bool, err error) {
	all, err := tx.Sessions(after, chunk)
	for _, s := range all {
		if len(found) == limit {
			return found, last, true, nil
		}
		last = s.ID
		if s.Portal.OrgID != orgID || !s.live(tx.Now()) {
			continue
		}
		holds, err := s.Portal.Holds(tx, s.UserID)
		if err != nil {
			return nil, "", false, err
		}
		if holds {
			found = append(found, s)
		}
	}
	return found, last, len(all) == chunk, err
}

// EndPortalSession ends a portal session of an org, with the audit entry
// portalSession.ended. Its scope is All. notFound: the org has no such session.
func EndPortalSession(tx Tx, actorID, orgID, id string) error {
	s, err := tx.Session(id)
	if unlessNotFound(err) != nil {
		return err
	}
	if err != nil || s.Portal.OrgID != orgID {
		return Errorf(CodeNotFound, "The org has no such portal session.")
	}
	return auditBy(tx.DeleteSession(id), tx, actorID, orgID, auditPortalEnded, s.UserID)
}
