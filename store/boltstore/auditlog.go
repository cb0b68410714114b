package boltstore

import (
	"encoding/json"

	"teamdata/store"
)

func (t *tx) AppendAudit(e store.AuditEntry) (store.AuditEntry, error) {
	b := t.bucket(bucketAuditLog)
	key, err := t.place(b, e.OrgID, store.PrefixAudit, &e.ID, &e.CreatedAt)
	if err != nil {
		return store.AuditEntry{}, err
	}
	return e, t.insert(b, key, e.AppendJSON(make([]byte, 0, 192)))
}

func (t *tx) AuditPage(orgID string, after store.Cursor, limit int, dst []byte) (store.Page, error) {
	return t.page(bucketAuditLog, orgID, after, limit, dst)
}

func (t *tx) AuditPageBefore(orgID string, before store.Cursor, limit int, dst []byte) (store.Page, error) {
	return t.pageBefore(bucketAuditLog, orgID, before, limit, dst)
}

func (t *tx) DropAuditLog(orgID string, limit int) (int, error) {
	b := t.bucket(bucketAuditLog)
	return t.dropKeys(b, firstKeys(b, orgKey(orgID, ""), limit))
}

func (c *checker) auditLog() {
	c.each(bucketAuditLog, func(key, item []byte) {
		if !json.Valid(item) {
			c.fault("auditLog %q: the item is not JSON", key)
		}
	})
}
