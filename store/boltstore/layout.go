package boltstore

import (
	"encoding/binary"
	"time"
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
	// bucketDeliveryCounts: hours since 1970, org id, 0, endpoint number → counts
	// record.
	bucketDeliveryCounts = []byte("deliveryCounts")
)

// buckets are all that a file has.
var buckets = append([][]byte{bucketMeta, bucketDeliveryCounts}, allRowBuckets()...)

// The keys of bucketMeta.
var (
	keySchema = []byte("schema")
	keySeal   = []byte("seal")
)

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
