package pgstore

import (
	"teamdata/store"
	"teamdata/store/codec"
)

var idempotency = records[store.IdempotencyRecord]{
	table: define("idempotency", 2, text("org_id"), text("key"), number("first_use"), blob("record")),
	noun:  "idempotency record", fields: codec.IdempotencyRecord,
	made: func(r *store.IdempotencyRecord) row { return row{millis(r.FirstUse)} },
}

func (t *tx) IdempotencyRecord(orgID, key string) (store.IdempotencyRecord, error) {
	r, err := idempotency.get(t, orgID, key)
	if err == nil && !r.FirstUse.After(t.now.Add(-store.IdempotencyTTL)) || store.IsNotFound(err) {
		return store.IdempotencyRecord{}, store.Errorf(store.CodeNotFound, "The Idempotency-Key was not used.")
	}
	return r, err
}

func (t *tx) AddIdempotencyRecord(r store.IdempotencyRecord) error {
	return idempotency.put(t, r, r.OrgID, r.Key)
}

func (t *tx) ExpireIdempotencyRecords(limit int) (int, error) {
	rows, err := t.query([]*table{idempotency.table}, "SELECT org_id, key FROM idempotency WHERE first_use <= $1 ORDER BY first_use LIMIT $2",
		t.now.Add(-store.IdempotencyTTL), limit)
	if err != nil {
		return 0, err
	}
	return t.removeAll(idempotency.table, rows)
}

// IdempotencyKeys looks at those of the org alone.
func (t *tx) IdempotencyKeys(orgID, after string, limit int) (keys []string, last string, err error) {
	rows, err := t.query([]*table{idempotency.table}, "SELECT key FROM idempotency WHERE org_id = $1 AND key > $2 ORDER BY key LIMIT $3", orgID, after, limit)
	keys = firstTexts(rows)
	if len(keys) == limit && limit > 0 {
		last = keys[limit-1]
	}
	return keys, last, err
}

func (t *tx) DeleteIdempotencyRecord(orgID, key string) error {
	return idempotency.remove(t, orgID, key)
}
