package pgstore

import (
	"teamdata/store"
	"teamdata/store/codec"
)

var (
	apiKeys = records[store.APIKey]{
		table: define("api_keys", 1, text("id"), text("org_id"), blob("record")), noun: "API key", fields: codec.APIKey,
		made: func(k *store.APIKey) row { return row{plain(k.OrgID)} },
	}
	keyUse = kindTable("keyUse") // which goes with its key
)

func (t *tx) APIKey(id string) (store.APIKey, error) { return apiKeys.get(t, id) }

func (t *tx) APIKeys(orgID, after string, limit int) ([]store.APIKey, error) {
	rows, err := t.query([]*table{apiKeys.table}, "SELECT "+apiKeys.columns+" FROM api_keys WHERE org_id = $1 AND id > $2 ORDER BY id LIMIT $3", orgID, after, limit)
	if err != nil {
		return nil, err
	}
	return apiKeys.openAll(t, rows)
}

func (t *tx) PutAPIKey(k store.APIKey) error {
	t.Touched = true
	return apiKeys.put(t, k, k.ID)
}

func (t *tx) DeleteAPIKey(id string) error {
	if _, err := t.APIKey(id); err != nil {
		return err
	}
	t.Touched = true
	if err := t.remove(keyUse, []byte(id)); err != nil {
		return err
	}
	return apiKeys.remove(t, id)
}
