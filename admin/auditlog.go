package admin

import (
	"cmp"

	"teamdata/client/admin/api"
	"teamdata/store"
	"teamdata/wire/web"
)

func (r *request) listAuditLog() error { return r.auditPage(r.org()) }

// listOperatorLog is listAuditLog for the server itself.
func (r *request) listOperatorLog() error { return r.auditPage(store.OperatorLog) }

// auditPage answers with a page of the entries of a log that a filter selects.
func (r *request) auditPage(log string) error {
	fields, err := filterFields(r.HTTP.URL.RawQuery, store.AuditFilterFields)
	if err != nil {
		return err
	}
	filter, err := store.ParseAuditFilter(func(name string) string { return fields[name] })
	if err != nil {
		return err
	}
	q, err := web.ParsePageQuery(r.HTTP.URL.RawQuery)
	if err != nil {
		return err
	}
	return r.view(func(tx store.Tx) (store.Answer, error) {
		page, err := store.FindAudit(tx, log, filter, q.After, q.Limit, []byte(web.PageStart))
		after := q.AfterText
		if page.Count == 0 && !page.Last.IsZero() { // continues after the last one read, even if none was shown
			after = page.Last.String()
		}
		return ok(web.AppendPageEnd(page, after)), err
	})
}

// maxEnds is how many ends a page may have.
const maxEnds = 1000

// listAuditLogEnds answers where the logs of orgs end, so that one request tells a follower
// which of them have moved.
func (r *request) listAuditLogEnds() error {
	return r.pageUpTo(maxEnds, func(tx store.Tx, q web.PageQuery) (store.Page, error) {
		orgs, err := tx.Orgs(q.After.ID, q.Limit+1)
		var failed error // of reading an end
		page := pageOf(orgs, 0, q, func(o store.Org) string { return o.ID }, func(o store.Org) []byte {
			end, err := tx.AuditEnd(o.ID)
			failed = cmp.Or(failed, err)
			at := ""
			if !end.IsZero() {
				at = end.String()
			}
			return newObject().text("orgId", o.ID).nullable("end", at).end()
		})
		return page, cmp.Or(err, failed)
	})
}

// operated appends an action on the server to the operator's log. Without a named
// actor, the actor is the operator token.
func (r *request) operated(failed error, tx store.Tx, action, target string) error {
	return store.AuditOperator(failed, tx, cmp.Or(r.actor, r.token.ID), action, target)
}

// remove commits the removal of a record of the server, with the action in the operator's log.
func (r *request) remove(action, id string, remove func(tx store.Tx, id string) error) error {
	return r.update(func(tx store.Tx) (store.Answer, error) {
		return noContent, r.operated(remove(tx, id), tx, action, id)
	})
}

// createdOr returns the action of a PUT of a record.
func createdOr(noun string, isNew bool) string {
	if isNew {
		return noun + ".created"
	}
	return noun + ".changed"
}

// newEntry returns an entry of the path's org. Its actor is the request's, unless
// the entry names one.
func (r *request) newEntry(e api.NewAuditLogEntry) store.AuditEntry {
	return store.AuditEntry{OrgID: r.org(), Action: e.Action, ActorID: *cmp.Or(e.ActorID, &r.actor), TargetID: orZero(e.TargetID)}
}

func (r *request) addAuditEntry() error {
	e := r.newEntry(decode[api.NewAuditLogEntry](r))
	return r.idempotent(func(tx store.Tx) (store.Answer, error) {
		e, err := store.AppendAudit(tx, e)
		return created(e.AppendJSON(nil)), err
	})
}

func (r *request) addAuditEntries() error {
	const places = "entries"
	entries := readBatch[api.NewAuditLogEntry](r, places)
	return r.idempotent(func(tx store.Tx) (store.Answer, error) {
		ids, err := eachPlace(places, entries, func(_ int, entry api.NewAuditLogEntry) (string, error) {
			e, err := store.AppendAudit(tx, r.newEntry(entry))
			return e.ID, err
		})
		return created(newObject().texts("ids", ids).end()), err
	})
}
