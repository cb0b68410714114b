package pgstore

import (
	"teamdata/store"
	"teamdata/store/codec"
)

var members = records[store.Member]{
	table: define("members", 2, text("org_id"), text("user_id"), number("at"), text("id"), number("manages"), blob("item"), blob("record")),
	noun:  "member", fields: codec.Member,
	made: func(m *store.Member) row {
		return row{millis(m.CreatedAt), plain(m.ID), bigint(managing(m)), m.AppendJSON(make([]byte, 0, 160))}
	},
}

// What members.manages says.
const (
	managesNothing  = iota
	managesAsViewer // nothing, but may see it
	managesAsAdmin
	managesAsOwner
)

func managing(m *store.Member) int64 {
	switch {
	case m.Role == store.RoleOwner:
		return managesAsOwner
	case m.Manages():
		return managesAsAdmin
	case m.MaySee():
		return managesAsViewer
	}
	return managesNothing
}

func (t *tx) Member(orgID, userID string) (store.Member, error) { return members.get(t, orgID, userID) }

func (t *tx) AppendMember(m store.Member) (store.Member, error) {
	if err := t.place(memberList, m.OrgID, store.PrefixMember, &m.ID, &m.CreatedAt); err != nil {
		return store.Member{}, err
	}
	return m, t.PutMember(m)
}

func (t *tx) PutMember(m store.Member) error {
	t.Touched = true
	return members.put(t, m, m.OrgID, m.UserID)
}

func (t *tx) DeleteMember(orgID, userID string) error {
	m, err := t.Member(orgID, userID)
	if err != nil {
		return err
	}
	if err := t.outlive(memberList, orgID, store.Cursor{Ms: uint64(m.CreatedAt.UnixMilli()), ID: m.ID}); err != nil {
		return err
	}
	if removed, _ := t.OrgRemoved(orgID); !removed { // of a removed org no Access is left
		t.Touched = true
	}
	return members.remove(t, orgID, userID)
}

func (t *tx) CountOwners(orgID string) (n int, err error) {
	rows, err := t.query([]*table{members.table}, "SELECT count(*) FROM members WHERE org_id = $1 AND manages > 0 AND manages = $2", orgID, managesAsOwner)
	if err != nil {
		return 0, err
	}
	return int(readBigint(rows[0][0])), nil
}

func (t *tx) Managers(orgID string) ([]store.Member, error) {
	rows, err := t.query([]*table{members.table}, "SELECT "+members.columns+" FROM members WHERE org_id = $1 AND manages > 0 AND manages >= $2 ORDER BY user_id", orgID, managesAsAdmin)
	if err != nil {
		return nil, err
	}
	return members.openAll(t, rows)
}

func (t *tx) VisibleOrgs(userID string) ([]string, error) {
	rows, err := t.query([]*table{members.table, removedOrgs}, "SELECT org_id FROM members WHERE user_id = $1 AND manages > 0"+
		" AND NOT EXISTS (SELECT 1 FROM removed_orgs WHERE key = convert_to(org_id, 'UTF8')) ORDER BY org_id", userID)
	return firstTexts(rows), err
}

func (t *tx) MemberPage(orgID string, after store.Cursor, limit int, dst []byte) (store.Page, error) {
	return t.page(memberList, orgID, after, limit, dst)
}
