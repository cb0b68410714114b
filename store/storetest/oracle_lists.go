package storetest

import (
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

func (o *oracle) AppendMember(m store.Member) (store.Member, error) {
	m.ID, m.CreatedAt = o.placed(pair{"members", m.OrgID}, m.ID, m.CreatedAt)
	return o.Nouns.AppendMember(m)
}

func (o *oracle) AppendAudit(e store.AuditEntry) (store.AuditEntry, error) {
	e.ID, e.CreatedAt = o.placed(pair{"audit log", e.OrgID}, e.ID, e.CreatedAt)
	return o.Nouns.AppendAudit(e)
}
