package admin

import (
	"cmp"
	"strconv"

	"teamdata/internal/strictjson"
	"teamdata/internal/web"
	"teamdata/store"
)

// maxEntries is the maximum number of entries in a batch.
const maxEntries = 1000

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
	return []strictjson.Field{in.Text("action", &e.Action), in.Text("actorId", &e.ActorID), in.Text("targetId", &e.TargetID)}
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
	entries, err := r.readEntries()
	if err != nil {
		return err
	}
	return r.idempotent(func(tx store.Tx) (store.Answer, error) {
		ids, err := appendAll(tx, entries)
		return created(newObject().texts("ids", ids).end()), err
	})
}

func (r *request) readEntries() ([]store.AuditEntry, error) {
	entries, e := make([]store.AuditEntry, 0, maxEntries), r.newEntry()
	fields := entryFields(r.in, &e)
	err := r.in.Document(r.in.List("entries", func() error {
		if len(entries) == maxEntries {
			return store.Invalid("entries", "has more than %d entries", maxEntries).Advise("send the rest in another batch")
		}
		e = r.newEntry()
		err := r.in.Fields(fields...)
		entries = append(entries, e)
		return err
	}))
	if err == nil && len(entries) == 0 {
		err = store.Invalid("entries", "is missing or empty").Advise("a batch has 1 to %d entries", maxEntries)
	}
	return entries, err
}

// appendAll appends entries in their order: all or none.
func appendAll(tx store.Tx, entries []store.AuditEntry) ([]string, error) {
	ids := make([]string, len(entries))
	for i, e := range entries {
		e, err := store.AppendAudit(tx, e)
		if err != nil {
			return nil, strictjson.Inside("entries["+strconv.Itoa(i)+"]", err)
		}
		ids[i] = e.ID
	}
	return ids, nil
}
