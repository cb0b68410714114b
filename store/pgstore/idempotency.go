package pgstore

import (
	"teamdata/store"
	"teamdata/store/codec"
)

var idempotency = records[store.IdempotencyRecord]{
	table: define("idempotency", 2, text("org_id"), text("key"), number("first_use"), blob("record")).newest("first_use"),
	noun:  "idempotency record", fields: codec.IdempotencyRecord,
	made: func(r *store.IdempotencyRecord) row { return row{millis(r.FirstUse)} },
}

func (t *tx) IdempotencyRecord(orgID, key string) (store.IdempotencyRecord, error) {
	r, err := idempotency.get(t, orgID, key)
	t.replayed = t.replayed || err == nil
	if err == nil && !r.FirstUse.After(t.now.Add(-store.IdempotencyTTL)) || store.IsNotFound(err) {
		return store.IdempotencyRecord{}, store.Errorf(store.CodeNotFound, "The Idempotency-Key was not used.")
	}
	return r, err
}

func (t *tx) AddIdempotencyRecord(r store.IdempotencyRecord) error {
	if n := partitionOf(r.FirstUse); !t.s.partitions.has(n) {
		t.lacking = append(t.lacking, n)
	}
	return idempotency.put(t, r, r.OrgID, r.Key)
}

// IdempotencyKeys looks at those of the org alone. One that is used again may be there
// twice, in two partitions.
func (t *tx) IdempotencyKeys(orgID, after string, limit int) (keys []string, last string, err error) {
	rows, err := t.query([]*table{idempotency.table}, "SELECT DISTINCT key FROM idempotency WHERE org_id = $1 AND key > $2 ORDER BY key LIMIT $3", orgID, after, limit)
	keys = firstTexts(rows)
	if len(keys) == limit && limit > 0 {
		last = keys[limit-1]
	}
	return keys, last, err
}

func (t *tx) DeleteIdempotencyRecord(orgID, key string) error {
	return idempotency.remove(t, orgID, key)
}
