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
		{bucketAPIKeys, apiKeyFields(new(store.APIKey))},
		{bucketMails, mailFields(new(store.Mail))},
	} {
		c.each(kind.bucket, func(key, record []byte) { c.read(kind.bucket, key, record, kind.fields) })
	}
	c.each(bucketAuditLog, func(key, item []byte) {
		if !json.Valid(item) {
			c.fault("auditLog %q: the item is not JSON", key)
		}
	})
	c.idempotency()
	c.lastAcknowledged()
	c.removedEnds()
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
		if c.get(bucketEndpointNumbers, key) == nil {
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
