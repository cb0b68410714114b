package boltstore

import (
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"teamdata/store"
	"teamdata/store/rows"
	"teamdata/store/storetest"
)

// kind is a kind of record, for the tests that hold for all of them.
type kind struct {
	bucket  []byte       // where the record lives
	samples func() []any // pointers to values with their extremes; the first has every field set
	encode  func(value any) []byte
	decode  func(record []byte) (value any, err error)
}

// rowsOf is a kind whose table is in package store.
func rowsOf(name string) kind { return kindBy(name, rows.Named(name).Records) }

// recordIn reads a record of a file as it is stored, with its secrets sealed.
func recordIn[T any](t testing.TB, bolt *bbolt.Tx, kind, key string) *T {
	t.Helper()
	record, err := rowsOf(kind).decode(bolt.Bucket([]byte(kind)).Get([]byte(key)))
	must(t, err)
	return record.(*T)
}

// countsTable is only for its Records.
var countsTable = rows.New(&rows.Table[store.DeliveryCounts]{Kind: rows.Kind{Name: "deliveryCounts"}, Fields: store.CountsFields})

func kindBy(name string, records rows.Records) kind {
	k := kind{bucket: []byte(name), encode: records.Encode, decode: records.Decode}
	k.samples = sync.OnceValue(func() []any { return samplesOf(name, records) }) // children need none
	return k
}

func samplesOf(name string, records rows.Records) (samples []any) {
	for _, values := range []storetest.Values{
		{Text: "é", Time: someTime}, {Text: long, Time: store.MaxTime, Most: true}, {Time: epoch, Most: true},
	} {
		sample := records.New()
		storetest.FillSample(sample, values)
		if name == "deliveries" {
			reflect.ValueOf(sample).Elem().FieldByName("ID").SetString("") // it is the key
		}
		samples = append(samples, sample)
	}
	return append(samples, records.New())
}

var (
	someTime = time.Date(2026, 10, 6, 12, 0, 0, 123e6, time.UTC)
	epoch    = time.UnixMilli(0).UTC()
	long     = strings.Repeat("\x00é\xff", 1<<12) // not UTF-8, with zeros
)

// kinds are those whose values are records: others have nothing, or bytes as they are.
var kinds = func() (all []kind) {
	for _, k := range rows.Kinds() {
		if record := reflect.TypeOf(k.Records.New()).Elem(); record.Kind() == reflect.Struct && countFields(record) > 0 {
			all = append(all, rowsOf(k.Name))
		}
	}
	return append(all, kindBy("deliveryCounts", countsTable.Records))
}()
