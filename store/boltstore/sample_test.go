package boltstore

import (
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"teamdata/store"
	"teamdata/store/codec"
	"teamdata/store/rows"
	"teamdata/store/storetest"
)

// kind is a kind of record, for the tests that hold for all of them.
type kind struct {
	bucket  []byte // where the record lives
	samples []any  // pointers to values with their extremes; the first has every field set
	encode  func(value any) []byte
	decode  func(record []byte) (value any, err error)
}

func kindOf[T any](bucket []byte, fields func(*rows.Codec, *T)) kind {
	return kindBy(bucket, rows.New(&rows.Table[T]{Kind: rows.Kind{Name: string(bucket)}, Fields: fields}).Records)
}

// rowsOf is a kind whose table is in package store.
func rowsOf(name string) kind { return kindBy([]byte(name), rowKind(name).Records) }

// recordIn reads a record of a file as it is stored, with its secrets sealed.
func recordIn[T any](t testing.TB, bolt *bbolt.Tx, kind, key string) *T {
	t.Helper()
	record, err := rowsOf(kind).decode(bolt.Bucket([]byte(kind)).Get([]byte(key)))
	must(t, err)
	return record.(*T)
}

func kindBy(bucket []byte, records rows.Records) kind {
	k := kind{bucket: bucket, encode: records.Encode, decode: records.Decode}
	for _, values := range []storetest.Values{
		{Text: "é", Time: someTime}, {Text: long, Time: store.MaxTime, Most: true}, {Time: epoch, Most: true},
	} {
		sample := records.New()
		storetest.FillSample(sample, values)
		if d, ok := sample.(*codec.DeliveryRecord); ok {
			d.ID = "" // it is the key
		}
		k.samples = append(k.samples, sample)
	}
	k.samples = append(k.samples, records.New())
	return k
}

var (
	someTime = time.Date(2026, 10, 6, 12, 0, 0, 123e6, time.UTC)
	epoch    = time.UnixMilli(0).UTC()
	long     = strings.Repeat("\x00é\xff", 1<<12) // not UTF-8, with zeros
)

var kinds = []kind{
	rowsOf("orgs"),
	rowsOf("plans"),
	rowsOf("members"),
	rowsOf("instructions"),
	rowsOf("apiKeys"),
	rowsOf("keyUse"),
	rowsOf("endpoints"),
	kindOf(bucketEvents, codec.Event),
	kindOf(bucketDeliveries, codec.Record),
	rowsOf("replayJobs"),
	rowsOf("mails"),
	rowsOf("idempotency"),
	rowsOf("eventTypes"),
	rowsOf("operatorTokens"),
	rowsOf("accounts"),
	rowsOf("sessions"),
	rowsOf("signInLinks"),
	kindOf(bucketDeliveryCounts, codec.DeliveryCounts),
}
