package boltstore

import (
	"bytes"

	"teamdata/store"
	"teamdata/store/codec"
)

var apiKeys = table[store.APIKey]{bucket: bucketAPIKeys, noun: "API key", fields: codec.APIKey}

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
	t.Touched = true
	if err := t.put(t.bucket(bucketAPIKeyList), orgKey(k.OrgID, k.ID), []byte{}); err != nil {
		return err
	}
	return apiKeys.put(t, []byte(k.ID), k)
}

func (t *tx) DeleteAPIKey(id string) error {
	k, err := t.APIKey(id)
	if err != nil {
		return err
	}
	t.Touched = true
	if err := t.delete(t.bucket(bucketAPIKeyList), orgKey(k.OrgID, id)); err != nil {
		return err
	}
	if err := t.delete(t.bucket([]byte(store.KindKeyUse)), []byte(id)); err != nil {
		return err
	}
	return apiKeys.delete(t, []byte(id))
}

// apiKeys checks that each key is in its org's list, and that each use is of an
// existing key.
func (c *checker) apiKeys() {
	keys := apiKeys.check(c, func(key []byte, k *store.APIKey) {
		if c.get(bucketAPIKeyList, orgKey(k.OrgID, string(key))) == nil {
			c.fault("apiKeys %q: is not in the list of the org %q", key, k.OrgID)
		}
	})
	c.sameCount(bucketAPIKeyList, "entries", keys, "keys")
	c.each([]byte(store.KindKeyUse), func(key, _ []byte) {
		if c.get(bucketAPIKeys, key) == nil {
			c.fault("keyUse %q: there is no such key", key)
		}
	})
}
