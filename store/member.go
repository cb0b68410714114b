package store

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"teamdata/store/rows"
)

// Member is a user's membership in an org.
type Member struct {
	OrgID     string
	ID        string // of the membership
	UserID    string // unique in the org
	Role      string // owner, admin, viewer, member, or any other
	Name      string // for people; not part of the API
	Email     string // for mail about the org; not part of the API
	CreatedAt time.Time
}

var members = rows.Define(&rows.Table[Member]{
	Kind: rows.Kind{Name: "members", Noun: "member", Owner: ownerOfMember},
	Key:  func(dst []byte, m *Member) []byte { return rows.Pair(dst, m.OrgID, m.UserID) },
	Fields: func(c *rows.Codec, m *Member) {
		c.Text(&m.OrgID)
		c.Text(&m.ID)
		c.Text(&m.UserID)
		c.Text(&m.Role)
		c.Text(&m.Name)
		c.Text(&m.Email)
		c.Time(&m.CreatedAt)
	},
	By: []rows.By[Member]{
		byPosition: {Index: rows.Index{Name: "memberList", Owner: rows.OfOrg, Record: memberOfItem},
			Key:   func(dst []byte, m *Member) []byte { return position(dst, m.OrgID, CursorOf(m.CreatedAt, m.ID)) },
			Value: func(dst []byte, m *Member) []byte { return m.AppendJSON(dst) }},
		managing: {Index: rows.Index{Name: "managers", Owner: rows.OfOrg, Record: func(dst, key, _ []byte) []byte { return append(dst, key...) }},
			Key: func(dst []byte, m *Member) []byte {
				if !m.Manages() {
					return nil
				}
				return rows.Pair(dst, m.OrgID, m.UserID)
			},
			Value: func(dst []byte, m *Member) []byte { return append(dst, m.Role...) }},
		seeing: {Index: rows.Index{Name: "visibleOrgs", Owner: rows.OfUser},
			Key: func(dst []byte, m *Member) []byte {
				if !m.MaySee() {
					return nil
				}
				return rows.Pair(dst, m.UserID, m.OrgID)
			}},
	},
})

// The roles with a meaning. Any other text of 1 to 64 characters is stored and
// grants nothing.
const (
	RoleOwner  = "owner"
	RoleAdmin  = "admin"
	RoleViewer = "viewer" // sees the settings page, and changes nothing
	RoleMember = "member"
)

// NamedText is a text field of a record, and its name in JSON.
type NamedText struct {
	Name string
	Text *string
}

// Texts are the fields that people give a member, in the order in which they are shown.
func (m *Member) Texts() []NamedText {
	return []NamedText{{"userId", &m.UserID}, {"role", &m.Role}, {"name", &m.Name}, {"email", &m.Email}}
}

// Manages reports whether the member may manage keys and endpoints.
func (m Member) Manages() bool { return m.Role == RoleOwner || m.Role == RoleAdmin }

// MaySee reports whether the member may sign in to the org's settings page.
func (m Member) MaySee() bool { return m.Manages() || m.Role == RoleViewer }

// AppendJSON appends the member as the API shows it.
func (m Member) AppendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	dst = appendString(dst, "id", m.ID)
	dst = appendString(dst, "userId", m.UserID)
	dst = appendString(dst, "role", m.Role)
	dst = appendTime(dst, "createdAt", m.CreatedAt)
	return append(dst, '}')
}

// Check checks the member's values by themselves, without its org: badRequest.
func (m Member) Check() error {
	if m.ID != "" && !ValidID(m.ID) {
		return Invalid("id", "%s", idRule)
	}
	return cmp.Or(checkID("userId", m.UserID), MemberChange{&m.Role, &m.Name, &m.Email}.check())
}

// checkRole checks a role. One that only looks like one with a meaning would grant nothing,
// without a word.
func checkRole(role string) error {
	looks := strings.ToLower(visible(norm.NFKC.String(role)))
	if meant := []string{RoleOwner, RoleAdmin, RoleViewer, RoleMember}; role != looks && slices.Contains(meant, looks) {
		return Invalid("role", "%q looks like the role %s but is not", role, looks).Advise("did you mean %s?", looks)
	}
	return checkText("role", role, maxIDLength)
}

// ImportMember appends a member without an audit entry or an event, as a fixture
// does. The engine fills in a missing id or creation time.
func ImportMember(tx Tx, m Member) (Member, error) {
	_, err := tx.Member(m.OrgID, m.UserID)
	if err := cmp.Or(m.Check(), checkHappened(tx, "createdAt", m.CreatedAt), checkOrg(tx, m.OrgID), checkNew(err, "userId", "the user %s is a member already", m.UserID)); err != nil {
		return Member{}, err
	}
	return tx.AppendMember(m)
}

// AddMember appends a member, with its audit entry and its event member.added.
// actorID may be empty. conflict: the user is already a member.
func AddMember(tx Tx, actorID string, m Member) (Member, error) {
	m, err := ImportMember(tx, m)
	return m, memberEvent(err, tx, actorID, EventMemberAdded, m)
}

// RemoveMember removes a member, with its audit entry and its event
// member.removed. The keys that the member created are revoked, including
// suspended ones: they stay invalid if the user is added again. The account is
// removed if the user may see no other org. conflict: the member is the last
// owner.
func RemoveMember(tx Tx, actorID, orgID, userID string) error {
	m, err := findMember(tx, orgID, userID)
	if err != nil {
		return err
	}
	if err := keepsAnOwner(tx, m, ""); err != nil {
		return err
	}
	if err := revokeCreated(tx, actorID, orgID, userID); err != nil {
		return err
	}
	if err := tx.DeleteMember(orgID, userID); err != nil {
		return err
	}
	return memberEvent(dropAccount(tx, userID), tx, actorID, EventMemberRemoved, m)
}

// MemberChange lists the changes to a member; nil leaves a field as it is.
type MemberChange struct {
	Role, Name, Email *string
}

// check skips unchanged fields, which may predate their rule.
func (c MemberChange) check() (err error) {
	if c.Role != nil {
		err = checkRole(*c.Role)
	}
	if c.Name != nil {
		err = cmp.Or(err, checkName("name", *c.Name, maxNameLength))
	}
	if c.Email != nil {
		err = cmp.Or(err, checkAddress("email", *c.Email))
	}
	return err
}

// ChangeMember changes a member, with its event member.changed. A new role writes the
// audit entry member.roleChanged, a new name or address member.changed; identical
// values write nothing. The keys of a member who no longer manages the org are suspended
// until the member does again. The account of a user who may no longer see any
// org is removed. conflict: the last owner would be demoted.
func ChangeMember(tx Tx, actorID, orgID, userID string, change MemberChange) (Member, error) {
	return changeMember(tx, actorID, orgID, userID, change, false)
}

// changeMember is ChangeMember. In a batch it demotes the last owner too: the batch
// checks at its end that there is one.
func changeMember(tx Tx, actorID, orgID, userID string, change MemberChange, inBatch bool) (Member, error) {
	old, err := findMember(tx, orgID, userID)
	if err != nil {
		return Member{}, err
	}
	if err := change.check(); err != nil {
		return Member{}, err
	}
	m := change.Of(old)
	if m == old {
		return m, nil
	}
	if !inBatch {
		if err := keepsAnOwner(tx, old, m.Role); err != nil {
			return Member{}, err
		}
	}
	if err := tx.PutMember(m); err != nil {
		return Member{}, err
	}
	action := "member.changed"
	if m.Role != old.Role {
		action = "member.roleChanged"
	}
	if err := auditBy(dropAccount(tx, userID), tx, actorID, orgID, action, m.ID); err != nil {
		return Member{}, err
	}
	_, err = Emit(tx, orgID, EventMemberChanged, memberChanged(old, m))
	return m, err
}

// MemberValues are a user and what the user is to be as a member.
type MemberValues struct {
	UserID string
	MemberChange
}

// MemberOutcome is a member after a change and before it. Was is zero if there was
// none.
type MemberOutcome struct{ Now, Was Member }

// PutMember adds a user with the given values, as AddMember does, or changes the
// member that the user is already, as ChangeMember does. A role is required. conflict:
// the last owner would be demoted.
func PutMember(tx Tx, actorID, orgID string, values MemberValues) (MemberOutcome, error) {
	return putMember(tx, actorID, orgID, values, false)
}

// PutMembers puts members in their order, each as PutMember does, except that the org
// may be without an owner until the last of them: an owner may be demoted before the
// next one is named. An error is that of the one at failed, and has to end the
// transaction.
func PutMembers(tx Tx, actorID, orgID string, members []MemberValues) (_ []MemberOutcome, failed int, _ error) {
	outcomes, demoted := make([]MemberOutcome, len(members)), -1
	for i, values := range members {
		o, err := putMember(tx, actorID, orgID, values, true)
		if err != nil {
			return nil, i, err
		}
		if outcomes[i] = o; o.Was.Role == RoleOwner && o.Now.Role != RoleOwner {
			demoted = i
		}
	}
	if demoted < 0 {
		return outcomes, 0, nil
	}
	return outcomes, demoted, hasOwners(tx, orgID, 1)
}

func putMember(tx Tx, actorID, orgID string, values MemberValues, inBatch bool) (o MemberOutcome, err error) {
	if values.Role == nil {
		return o, Invalid("role", "is missing or empty")
	}
	switch o.Was, err = tx.Member(orgID, values.UserID); {
	case err == nil:
		o.Now, err = changeMember(tx, actorID, orgID, values.UserID, values.MemberChange, inBatch)
	case IsNotFound(err):
		o.Now, err = AddMember(tx, actorID, values.Of(Member{OrgID: orgID, UserID: values.UserID}))
	}
	return o, err
}

// Of returns a member with the changes.
func (c MemberChange) Of(m Member) Member {
	replace(&m.Role, c.Role)
	replace(&m.Name, c.Name)
	replace(&m.Email, c.Email)
	return m
}

func replace(text, with *string) {
	if with != nil {
		*text = *with
	}
}

func findMember(tx Tx, orgID, userID string) (Member, error) {
	m, err := tx.Member(orgID, userID)
	if IsNotFound(err) {
		return m, Errorf(CodeNotFound, "The org has no such member.")
	}
	return m, err
}

func memberEvent(failed error, tx Tx, actorID, event string, m Member) error {
	return auditAndEmit(failed, tx, actorID, m.OrgID, event, m.ID, jsonObject("orgId", m.OrgID, "memberId", m.ID, "userId", m.UserID, "role", m.Role))
}

// memberChanged returns the data of the event member.changed: the member as it is now, and
// in previous the old values of changed fields.
func memberChanged(old, m Member) []byte {
	data, was, previous := []string{"orgId", m.OrgID, "memberId", m.ID}, old.Texts(), []string{}
	for i, field := range m.Texts() {
		data = append(data, field.Name, *field.Text)
		if *was[i].Text != *field.Text {
			previous = append(previous, field.Name, *was[i].Text)
		}
	}
	return addObject(jsonObject(data...), "previous", jsonObject(previous...))
}

// keepsAnOwner checks that the org keeps an owner when a member gets a role.
func keepsAnOwner(tx Tx, m Member, role string) error {
	if m.Role != RoleOwner || role == RoleOwner {
		return nil
	}
	return hasOwners(tx, m.OrgID, 2)
}

func hasOwners(tx Tx, orgID string, least int) error {
	owners, err := tx.CountOwners(orgID)
	if err == nil && owners < least {
		err = Errorf(CodeConflict, "An org must have at least one owner.").Advise("Make another member an owner first.")
	}
	return err
}
