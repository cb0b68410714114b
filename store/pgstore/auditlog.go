package pgstore

import "teamdata/store"

var auditLog = define("audit_log", 3, text("org_id"), number("at"), text("id"), blob("item"))

func (t *tx) AppendAudit(e store.AuditEntry) (store.AuditEntry, error) {
	if err := t.place(auditList, e.OrgID, store.PrefixAudit, &e.ID, &e.CreatedAt); err != nil {
		return store.AuditEntry{}, err
	}
	return e, t.insert(auditLog, row{plain(e.OrgID), millis(e.CreatedAt), plain(e.ID), e.AppendJSON(make([]byte, 0, 192))})
}

func (t *tx) AuditPage(orgID string, after store.Cursor, limit int, dst []byte) (store.Page, error) {
	return t.page(auditList, orgID, after, limit, dst)
}

func (t *tx) AuditPageBefore(orgID string, before store.Cursor, limit int, dst []byte) (store.Page, error) {
	return t.pageBefore(auditList, orgID, before, limit, dst)
}

func (t *tx) DropAuditLog(orgID string, limit int) (int, error) {
	rows, err := t.query([]*table{auditLog}, "SELECT org_id, at, id FROM audit_log WHERE org_id = $1 ORDER BY at, id LIMIT $2", orgID, limit)
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	last := rows[len(rows)-1]
	if err := t.outlive(auditList, orgID, store.Cursor{Ms: readUnsigned(last[1]), ID: string(last[2])}); err != nil {
		return 0, err
	}
	return t.removeAll(auditLog, rows)
}
