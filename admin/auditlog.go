package admin

import (
	"cmp"

	"teamdata/store"
	"teamdata/wire/strictjson"
	"teamdata/wire/web"
)

func (r *request) listAuditLog() error {
	return r.page(func(tx store.Tx, q web.PageQuery) (store.Page, error) {
		return tx.AuditPage(r.org(), q.After, q.Limit, []byte(web.PageStart))
	})
}

// listOperatorLog is listAuditLog for the server itself.
func (r *request) listOperatorLog() error {
	return r.page(func(tx store.Tx, q web.PageQuery) (store.Page, error) {
		return store.OperatorLogPage(tx, q.After, q.Limit, []byte(web.PageStart))
	})
}

// operated appends an action on the server to the operator's log. Without a named
// actor, the actor is the operator token.
func (r *request) operated(failed error, tx store.Tx, action, target string) error {
	return store.AuditOperator(failed, tx, cmp.Or(r.actor, r.token), action, target)
}

// createdOr returns the action of a PUT of a record.
func createdOr(noun string, isNew bool) string {
	if isNew {
		return noun + ".created"
	}
	return noun + ".changed"
}

func entryFields(in *strictjson.Reader, e *store.AuditEntry) []strictjson.Field {
	return []strictjson.Field{in.Text("action", &e.Action), strictjson.Nullable(&e.ActorID, "", in.Text("actorId", &e.ActorID)), in.Text("targetId", &e.TargetID)}
}

// newEntry returns an entry of the path's org. Its actor is the request's, unless
// the entry names one.
func (r *request) newEntry() store.AuditEntry {
	return store.AuditEntry{OrgID: r.org(), ActorID: r.actor}
}

func (r *request) addAuditEntry() error {
	e := r.newEntry()
	r.read(entryFields(r.in, &e)...)
	return r.idempotent(func(tx store.Tx) (store.Answer, error) {
		e, err := store.AppendAudit(tx, e)
		return created(e.AppendJSON(nil)), err
	})
}

func (r *request) addAuditEntries() error {
	const places = "entries"
	entries, e := make([]store.AuditEntry, 0, maxPlaces), r.newEntry()
	fields := entryFields(r.in, &e)
	r.bodyErr = r.readBatch(places, func() error {
		e = r.newEntry()
		err := r.in.Fields(fields...)
		entries = append(entries, e)
		return err
	})
	return r.idempotent(func(tx store.Tx) (store.Answer, error) {
		ids, err := eachPlace(places, entries, func(_ int, e store.AuditEntry) (string, error) {
			e, err := store.AppendAudit(tx, e)
			return e.ID, err
		})
		return created(newObject().texts("ids", ids).end()), err
	})
}
