package boltstore

import (
	"bytes"
	"time"

	"teamdata/store"
)

var apiKeys = table[store.APIKey]{bucket: bucketAPIKeys, noun: "API key", fields: apiKeyFields}

func apiKeyFields(c *codec, k *store.APIKey) {
	c.text(&k.ID)
	c.text(&k.OrgID)
	c.text(&k.Name)
	c.hash((*[32]byte)(&k.SecretHash))
	small(c, &k.Scopes)
	c.text(&k.CreatedBy)
	c.time(&k.CreatedAt)
	c.time(&k.ExpiresAt)
	c.time(&k.RevokedAt)
}

func (t *tx) APIKey(id string) (store.APIKey, error) { return apiKeys.get(t, []byte(id)) }

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
	return apiKeys.put(t, []byte(k.ID), k)
}

func (t *tx) KeyLastUsed(id string) (at time.Time, err error) {
	return t.timeIn(bucketKeyLastUsed, []byte(id)), nil
}

func (t *tx) PutKeyLastUsed(id string, at time.Time) error {
	return t.putTime(bucketKeyLastUsed, []byte(id), at)
}

// apiKeys checks that each key is in its org's list, and that what was used is there.
func (c *checker) apiKeys() {
	keys := apiKeys.check(c, func(key []byte, k *store.APIKey) {
		if c.get(bucketAPIKeyList, orgKey(k.OrgID, string(key))) == nil {
			c.fault("apiKeys %q: is not in the list of the org %q", key, k.OrgID)
		}
	})
	c.sameCount(bucketAPIKeyList, "entries", keys, "keys")
	c.times(bucketKeyLastUsed, func(key []byte) {
		if c.get(bucketAPIKeys, key) == nil {
			c.fault("keyLastUsed %q: there is no such key", key)
		}
	})
}
