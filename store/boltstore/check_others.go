package boltstore

import (
	"bytes"
	"encoding/json"

	"teamdata/store"
)

// others holds what no index is made from to its form.
func (c *checker) others() {
	for _, kind := range []struct {
		bucket []byte
		fields func(*codec)
	}{
		{bucketOrgs, orgFields(new(store.Org))},
		{bucketPlans, planFields(new(store.Plan))},
		{bucketInstructions, instructionsFields(new(store.Instructions))},
		{bucketEventTypes, eventTypeFields(new(store.EventType))},
		{bucketOperatorTokens, operatorTokenFields(new(store.OperatorToken))},
		{bucketMails, mailFields(new(store.Mail))},
	} {
		c.each(kind.bucket, func(key, record []byte) { c.read(kind.bucket, key, record, kind.fields) })
	}
	c.each(bucketAuditLog, func(key, item []byte) {
		if !json.Valid(item) {
			c.fault("auditLog %q: the item is not JSON", key)
		}
	})
	c.apiKeys()
	c.idempotency()
	c.lastUsed()
	c.lastAcknowledged()
	c.removedEnds()
}

func (c *checker) apiKeys() {
	keys := c.each(bucketAPIKeys, func(key, record []byte) {
		var k store.APIKey
		c.read(bucketAPIKeys, key, record, apiKeyFields(&k))
		if c.get(bucketAPIKeyList, orgKey(k.OrgID, string(key))) == nil {
			c.fault("apiKeys %q: is not in the list of the org %q", key, k.OrgID)
		}
	})
	if listed := c.count(bucketAPIKeyList); listed != keys {
		c.fault("apiKeyList: has %d entries for %d keys", listed, keys)
	}
}

func (c *checker) idempotency() {
	partitions := c.bolt.Bucket(bucketIdempotency)
	c.each(bucketIdempotency, func(name, _ []byte) {
		partition := partitions.Bucket(name)
		if partition == nil || len(name) != 8 {
			c.fault("idempotency %q: is not a partition", name)
			return
		}
		eachOf(partition, func(key, record []byte) {
			c.read(bucketIdempotency, key, record, idempotencyFields(new(store.IdempotencyRecord)))
		})
	})
}

func (c *checker) lastAcknowledged() {
	c.each(bucketLastAcknowledged, func(key, ms []byte) {
		if !c.isEndpoint(key) {
			c.fault("lastAcknowledged %q: there is no endpoint of that number", key)
		}
		if len(ms) != 8 {
			c.fault("lastAcknowledged %q: %q is not a time", key, ms)
		}
	})
}

func (c *checker) removedEnds() {
	c.each(bucketRemovedEnds, func(org, key []byte) {
		prefix := orgKey(string(org), "")
		if !bytes.HasPrefix(key, prefix) || len(key) < len(prefix)+8 {
			c.fault("removedEnds %q: %q is not a position of that org", org, key)
		}
	})
}

// isEndpoint tells whether there is an endpoint of a number, or was one that is
// not forgotten.
func (c *checker) isEndpoint(number []byte) bool {
	return c.get(bucketEndpointNumbers, number) != nil || c.get(bucketRemovedEndpoints, number) != nil
}
