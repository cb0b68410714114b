package boltstore

import (
	"bytes"
	"time"

	"teamdata/store"
)

func (t *tx) APIKey(id string) (k store.APIKey, err error) {
	return k, t.get(bucketAPIKeys, []byte(id), "API key", apiKeyFields(&k))
}

func (t *tx) APIKeys(orgID, after string, limit int) (list []store.APIKey, err error) {
	prefix, from := orgKey(orgID, ""), orgKey(orgID, after)
	c := t.bolt.Bucket(bucketAPIKeyList).Cursor()
	for key, _ := c.Seek(from); bytes.HasPrefix(key, prefix) && len(list) < limit; key, _ = c.Next() {
		if bytes.Equal(key, from) {
			continue
		}
		k, err := t.APIKey(string(key[len(prefix):]))
		if err != nil {
			return nil, err
		}
		list = append(list, k)
	}
	return list, nil
}

func (t *tx) PutAPIKey(k store.APIKey) error {
	t.touched = true
	if err := t.put(t.bucket(bucketAPIKeyList), orgKey(k.OrgID, k.ID), []byte{}); err != nil {
		return err
	}
	return t.put(t.bucket(bucketAPIKeys), []byte(k.ID), encode(apiKeyFields(&k)))
}

func (t *tx) KeyLastUsed(id string) (at time.Time, err error) {
	return timeIn(t.bolt.Bucket(bucketKeyLastUsed), []byte(id)), nil
}

func (t *tx) PutKeyLastUsed(id string, at time.Time) error {
	return t.put(t.bucket(bucketKeyLastUsed), []byte(id), numberKey(uint64(at.UnixMilli())))
}

func (t *tx) OperatorToken(id string) (o store.OperatorToken, err error) {
	return o, t.get(bucketOperatorTokens, []byte(id), "operator token", operatorTokenFields(&o))
}

func (t *tx) OperatorTokens() ([]store.OperatorToken, error) {
	return records(t.bolt.Bucket(bucketOperatorTokens).Cursor(), nil, all, operatorTokenFields)
}

func (t *tx) PutOperatorToken(o store.OperatorToken) error {
	return t.put(t.bucket(bucketOperatorTokens), []byte(o.ID), encode(operatorTokenFields(&o)))
}

func (t *tx) DeleteOperatorToken(id string) error {
	return t.delete(t.bucket(bucketOperatorTokens), []byte(id))
}
