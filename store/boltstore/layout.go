package boltstore

import (
	"encoding/binary"

	"teamdata/store"
)

// schemaVersion is the version of the layout below. A file of a newer one is
// refused; a file of an older one is migrated when it is opened.
const schemaVersion = 1

// Every bucket of the file. Keys are built by the functions below, numbers in
// them are 8 bytes big-endian, and text that another part follows ends with a
// zero byte, which no id holds. Buckets that grow are keyed so that inserts
// land at their end.
var (
	// bucketMeta: "schema" → schema version as a number.
	bucketMeta = []byte("meta")
	// bucketOrgs: org id → org record.
	bucketOrgs = []byte("orgs")
	// bucketPlans: plan name → plan record.
	bucketPlans = []byte("plans")
	// bucketMembers: org id, 0, user id → member record.
	bucketMembers = []byte("members")
	// bucketOwners: org id, 0, user id → nothing; the members who are owners.
	bucketOwners = []byte("owners")
	// bucketMemberList: org id, 0, createdAt ms, member id → the item's JSON.
	bucketMemberList = []byte("memberList")
	// bucketRemovedEnds: org id → key in bucketMemberList of the last member, if
	// that was removed. New members still go behind it.
	bucketRemovedEnds = []byte("removedEnds")
	// bucketAuditLog: org id, 0, createdAt ms, entry id → the item's JSON.
	bucketAuditLog = []byte("auditLog")
	// bucketInstructions: org id → instructions record.
	bucketInstructions = []byte("instructions")
	// bucketAPIKeys: key id → API key record.
	bucketAPIKeys = []byte("apiKeys")
	// bucketEndpoints: org id, 0, endpoint id → endpoint record. The bucket's
	// sequence is the last endpoint number given.
	bucketEndpoints = []byte("endpoints")
	// bucketEndpointNumbers: endpoint number → its key in bucketEndpoints.
	bucketEndpointNumbers = []byte("endpointNumbers")
	// bucketEvents: event id → event record.
	bucketEvents = []byte("events")
	// bucketDeliveries: delivery id → delivery record.
	bucketDeliveries = []byte("deliveries")
	// bucketDue: endpoint number, due ms, delivery id → nothing; the deliveries
	// that wait for an attempt.
	bucketDue = []byte("due")
	// bucketIdempotency: partition number → a bucket with the records first
	// used in that span of time: org id, 0, idempotency key → record.
	bucketIdempotency = []byte("idempotency")
	// bucketCertificates: name → PEM.
	bucketCertificates = []byte("certificates")
)

var buckets = [][]byte{
	bucketMeta, bucketOrgs, bucketPlans, bucketMembers, bucketOwners, bucketMemberList,
	bucketRemovedEnds, bucketAuditLog, bucketInstructions, bucketAPIKeys, bucketEndpoints, bucketEndpointNumbers,
	bucketEvents, bucketDeliveries, bucketDue, bucketIdempotency, bucketCertificates,
}

var keySchema = []byte("schema")

// orgKey is org id, 0, rest. The range of an org runs from orgKey(org, "") to
// orgEnd(org).
func orgKey(orgID, rest string) []byte {
	key := make([]byte, 0, len(orgID)+1+len(rest))
	return append(append(append(key, orgID...), 0), rest...)
}

func orgEnd(orgID string) []byte { return append([]byte(orgID), 1) }

// listKey is the place of an item in a list: org id, 0, ms, item id.
func listKey(orgID string, c store.Cursor) []byte {
	key := make([]byte, 0, len(orgID)+1+8+len(c.ID))
	key = append(append(key, orgID...), 0)
	return append(binary.BigEndian.AppendUint64(key, c.Ms), c.ID...)
}

// cursorOf reads the position back from a list key of the org.
func cursorOf(orgID string, key []byte) store.Cursor {
	rest := key[len(orgID)+1:]
	return store.Cursor{Ms: binary.BigEndian.Uint64(rest), ID: string(rest[8:])}
}

// dueKey is endpoint number, due ms, delivery id.
func dueKey(endpoint, ms uint64, deliveryID string) []byte {
	key := make([]byte, 0, 16+len(deliveryID))
	key = binary.BigEndian.AppendUint64(key, endpoint)
	return append(binary.BigEndian.AppendUint64(key, ms), deliveryID...)
}

func readDueKey(key []byte) (endpoint, ms uint64, deliveryID string) {
	return binary.BigEndian.Uint64(key), binary.BigEndian.Uint64(key[8:]), string(key[16:])
}

func numberKey(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }
