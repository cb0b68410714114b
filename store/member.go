package store

import "time"

// Member is a user's membership in an org.
type Member struct {
	OrgID     string
	ID        string // of the membership
	UserID    string // unique in the org
	Role      string
	Name      string // for people; not part of the API
	Email     string // where the org's mail goes; not part of the API
	CreatedAt time.Time
}

// The roles that mean something. Any other text of 1 to 64 characters is kept
// and manages nothing.
const (
	RoleOwner  = "owner"
	RoleAdmin  = "admin"
	RoleMember = "member"
)

// Manages tells whether the member may manage keys and endpoints.
func (m Member) Manages() bool { return m.Role == RoleOwner || m.Role == RoleAdmin }

// AppendJSON appends the member as the API shows it.
func (m Member) AppendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	dst = appendString(dst, "id", m.ID)
	dst = appendString(dst, "userId", m.UserID)
	dst = appendString(dst, "role", m.Role)
	dst = appendTime(dst, "createdAt", m.CreatedAt)
	return append(dst, '}')
}

func (m Member) check() error {
	if m.ID != "" && !ValidID(m.ID) {
		return Invalid("id", "%s", idRule)
	}
	if !ValidID(m.UserID) {
		return Invalid("userId", "%s", idRule)
	}
	if err := checkText("role", m.Role, maxIDLength); err != nil {
		return err
	}
	if err := checkOptional("name", m.Name, maxNameLength); err != nil {
		return err
	}
	return checkOptional("email", m.Email, 254)
}

// ImportMember appends a member without an audit entry or an event, as a
// fixture does. A missing id or creation time is given by the engine.
func ImportMember(tx Tx, m Member) (Member, error) {
	if err := m.check(); err != nil {
		return Member{}, err
	}
	if _, err := tx.Org(m.OrgID); err != nil {
		return Member{}, err
	}
	switch _, err := tx.Member(m.OrgID, m.UserID); {
	case err == nil:
		return Member{}, &Error{Code: CodeConflict, Field: "userId", Message: "the user " + m.UserID + " is a member already"}
	case !IsNotFound(err):
		return Member{}, err
	}
	return tx.AppendMember(m)
}

// AddMember appends a member, with its audit entry and its event member.added.
// actorID is who did it, empty for nobody. A user who is a member already is a
// conflict.
func AddMember(tx Tx, actorID string, m Member) (Member, error) {
	m, err := ImportMember(tx, m)
	if err != nil {
		return Member{}, err
	}
	return m, memberChanged(tx, actorID, EventMemberAdded, m)
}

// RemoveMember removes a member, with its audit entry and its event
// member.removed. The last owner can't be removed: conflict.
func RemoveMember(tx Tx, actorID, orgID, userID string) error {
	m, err := tx.Member(orgID, userID)
	if err != nil {
		return err
	}
	if err := keepsAnOwner(tx, m, ""); err != nil {
		return err
	}
	if err := tx.DeleteMember(orgID, userID); err != nil {
		return err
	}
	return memberChanged(tx, actorID, EventMemberRemoved, m)
}

// ChangeRole gives a member another role, with its audit entry. The last owner
// can't be demoted: conflict.
func ChangeRole(tx Tx, actorID, orgID, userID, role string) error {
	m, err := tx.Member(orgID, userID)
	if err != nil {
		return err
	}
	if err := keepsAnOwner(tx, m, role); err != nil {
		return err
	}
	m.Role = role
	if err := m.check(); err != nil {
		return err
	}
	if err := tx.PutMember(m); err != nil {
		return err
	}
	return auditBy(tx, actorID, orgID, "member.roleChanged", m.ID)
}

func memberChanged(tx Tx, actorID, event string, m Member) error {
	if err := auditBy(tx, actorID, m.OrgID, event, m.ID); err != nil {
		return err
	}
	return Emit(tx, m.OrgID, event, object("orgId", m.OrgID, "memberId", m.ID, "userId", m.UserID, "role", m.Role))
}

func keepsAnOwner(tx Members, m Member, role string) error {
	if m.Role != RoleOwner || role == RoleOwner {
		return nil
	}
	owners, err := tx.CountOwners(m.OrgID)
	if err != nil {
		return err
	}
	if owners < 2 {
		return Errorf(CodeConflict, "An org keeps at least one owner. Make another member an owner first.")
	}
	return nil
}
