package storetest

import (
	"maps"
	"slices"
	"strings"
	"time"

	"teamdata/store"
)

func memberPosition(m store.Member) store.Cursor    { return store.CursorOf(m.CreatedAt, m.ID) }
func auditPosition(e store.AuditEntry) store.Cursor { return store.CursorOf(e.CreatedAt, e.ID) }

// placed checks the position that the engine gave to an item of which id and
// createdAt were brought along, or not, and returns it. A list is a pair of its
// name and its org.
func (o *oracle) placed(list pair, id string, createdAt time.Time) (string, time.Time) {
	at, last := take(&o.positions, "position"), o.highest[list]
	if at.Compare(last) > 0 {
		o.highest.keep(list, at)
	}
	switch given := time.UnixMilli(int64(at.Ms)).UTC(); {
	case id != "" && at.ID != id, at.ID == "":
		panic("the engine changed an id that was brought along, or gave none")
	case !createdAt.IsZero() && !given.Equal(createdAt):
		panic("the engine changed a createdAt that was brought along")
	case createdAt.IsZero() && at.Compare(last) <= 0:
		panic("the engine gave a position that is not behind all that the list ever had")
	case createdAt.IsZero() && given.Before(o.now):
		panic("the engine gave a createdAt that lies before the transaction")
	default:
		return at.ID, given
	}
}

func (o *oracle) memberList(orgID string) []store.Member {
	list := slices.Collect(maps.Values(o.members))
	list = slices.DeleteFunc(list, func(m store.Member) bool { return m.OrgID != orgID })
	slices.SortFunc(list, func(a, b store.Member) int { return memberPosition(a).Compare(memberPosition(b)) })
	return list
}

func (o *oracle) AppendMember(m store.Member) (store.Member, error) {
	m.ID, m.CreatedAt = o.placed(pair{"members", m.OrgID}, m.ID, m.CreatedAt)
	return m, o.PutMember(m)
}

func (o *oracle) DeleteMember(orgID, userID string) error {
	_, err := o.Member(orgID, userID)
	delete(o.members, pair{orgID, userID})
	return err
}

func (o *oracle) CountOwners(orgID string) (n int, err error) {
	for _, m := range o.members {
		if m.OrgID == orgID && m.Role == store.RoleOwner {
			n++
		}
	}
	return n, nil
}

func (o *oracle) Managers(orgID string) (managers []store.Member, err error) {
	for _, m := range o.memberList(orgID) {
		if m.Manages() {
			managers = append(managers, m)
		}
	}
	slices.SortFunc(managers, func(a, b store.Member) int { return strings.Compare(a.UserID, b.UserID) })
	return managers, nil
}

func (o *oracle) AppendAudit(e store.AuditEntry) (store.AuditEntry, error) {
	e.ID, e.CreatedAt = o.placed(pair{"audit log", e.OrgID}, e.ID, e.CreatedAt)
	log := append(o.auditLog[e.OrgID], e)
	slices.SortFunc(log, func(a, b store.AuditEntry) int { return auditPosition(a).Compare(auditPosition(b)) })
	return e, o.auditLog.keep(e.OrgID, log)
}

func (o *oracle) MemberPage(orgID string, after store.Cursor, limit int, dst []byte) (store.Page, error) {
	return pageOf(o.memberList(orgID), memberPosition, store.Member.AppendJSON, 1, after, limit, dst), nil
}

func (o *oracle) AuditPage(orgID string, after store.Cursor, limit int, dst []byte) (store.Page, error) {
	return pageOf(o.auditLog[orgID], auditPosition, store.AuditEntry.AppendJSON, 1, after, limit, dst), nil
}
