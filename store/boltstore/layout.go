package boltstore

import (
	"encoding/binary"
	"time"

	"teamdata/store"
)

// The buckets of what is not kept as rows: those have their names and keys from their
// tables, in package store. Keys are built by the functions below, numbers in
// them are 8 bytes big-endian, and text followed by another part ends with a zero
// byte, which no id contains. Buckets that grow are keyed so that inserts land at
// their end.
var (
	// bucketMeta: "schema" → schema version as a number; "seal" → sealCheck,
	// sealed, if the file is sealed.
	bucketMeta = []byte("meta")
	// bucketEvents: event id → event record, for events that don't share their
	// delivery's.
	bucketEvents = []byte("events")
	// bucketDeliveries: delivery id → delivery record, mostly with its event.
	bucketDeliveries = []byte("deliveries")
	// bucketDeliveryLists: endpoint number, list, ms, delivery id → nothing; each
	// endpoint's deliveries: 1, acknowledged, by time of acknowledgment; 2,
	// waiting, by due time: the due index; 3, failed, by time of failure. The
	// last acknowledged is next to the first due, so an outcome mostly stays on
	// one page. A waiting one that was attempted is also in 4, by the end of the
	// last attempt, whose ms are its value in 2.
	bucketDeliveryLists = []byte("deliveryLists")
	// bucketLastAcknowledged: endpoint number → ms, as a number.
	bucketLastAcknowledged = []byte("lastAcknowledged")
	// bucketDeliveryCounts: hours since 1970, org id, 0, endpoint number → counts
	// record.
	bucketDeliveryCounts = []byte("deliveryCounts")
)

// buckets are all that a file has.
var buckets = append([][]byte{
	bucketMeta,
	bucketEvents, bucketDeliveries, bucketDeliveryLists, bucketLastAcknowledged, bucketDeliveryCounts,
}, allRowBuckets()...)

// The keys of bucketMeta.
var (
	keySchema = []byte("schema")
	keySeal   = []byte("seal")
)

// orgKey is org id, 0, rest.
func orgKey(orgID, rest string) []byte {
	key := make([]byte, 0, len(orgID)+1+len(rest))
	return append(append(append(key, orgID...), 0), rest...)
}

// placeKey is the key of a delivery in one of its endpoint's lists: endpoint
// number, list, ms, delivery id. A list's range begins at listStart.
func placeKey(endpoint uint64, list store.DeliveryList, at store.Cursor) []byte {
	key := make([]byte, 0, 17+len(at.ID))
	key = append(binary.BigEndian.AppendUint64(key, endpoint), byte(list))
	return append(binary.BigEndian.AppendUint64(key, at.Ms), at.ID...)
}

func listStart(endpoint uint64, list store.DeliveryList) []byte {
	return append(numberKey(endpoint), byte(list))
}

func readPlaceKey(key []byte) (endpoint uint64, list store.DeliveryList, at store.Cursor) {
	at = store.Cursor{Ms: binary.BigEndian.Uint64(key[9:]), ID: string(key[17:])}
	return binary.BigEndian.Uint64(key), store.DeliveryList(key[8]), at
}

// countsKey is the key of an endpoint's counts in an hour: hours, org id, 0,
// endpoint number. Keys of an org in that hour begin with countsStart.
func countsKey(hour time.Time, orgID string, endpoint uint64) []byte {
	return binary.BigEndian.AppendUint64(countsStart(hoursOf(hour), orgID), endpoint)
}

func countsStart(hours uint64, orgID string) []byte {
	key := make([]byte, 0, 8+len(orgID)+1+8)
	return append(append(binary.BigEndian.AppendUint64(key, hours), orgID...), 0)
}

func hoursOf(t time.Time) uint64 { return uint64(max(t.Unix(), 0) / 3600) }

func numberKey(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }
