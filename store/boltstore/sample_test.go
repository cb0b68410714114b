package boltstore

import (
	"strings"
	"time"

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
	k := kind{
		bucket: bucket,
		encode: func(value any) []byte { return rows.Encode(fields, *value.(*T)) },
		decode: func(record []byte) (any, error) {
			value, err := rows.Decode(record, fields)
			return &value, err
		},
	}
	for _, values := range []storetest.Values{
		{Text: "é", Time: someTime}, {Text: long, Time: store.MaxTime, Most: true}, {Time: epoch, Most: true},
	} {
		sample := storetest.Sample[T](values)
		if d, ok := any(&sample).(*codec.DeliveryRecord); ok {
			d.ID = "" // it is the key
		}
		k.samples = append(k.samples, &sample)
	}
	k.samples = append(k.samples, new(T))
	return k
}

var (
	someTime = time.Date(2026, 10, 6, 12, 0, 0, 123e6, time.UTC)
	epoch    = time.UnixMilli(0).UTC()
	long     = strings.Repeat("\x00é\xff", 1<<12) // not UTF-8, with zeros
)

var kinds = []kind{
	kindOf([]byte("orgs"), codec.Org),
	kindOf([]byte("plans"), codec.Plan),
	kindOf([]byte("members"), codec.Member),
	kindOf([]byte("instructions"), codec.Instructions),
	kindOf([]byte("apiKeys"), codec.APIKey),
	kindOf([]byte("keyUse"), codec.KeyUse),
	kindOf([]byte("endpoints"), codec.Endpoint),
	kindOf(bucketEvents, codec.Event),
	kindOf(bucketDeliveries, codec.Record),
	kindOf([]byte("replayJobs"), codec.ReplayJob),
	kindOf([]byte("mails"), codec.Mail),
	kindOf(bucketIdempotency, codec.IdempotencyRecord),
	kindOf([]byte("eventTypes"), codec.EventType),
	kindOf([]byte("operatorTokens"), codec.OperatorToken),
	kindOf([]byte("accounts"), codec.Account),
	kindOf([]byte("sessions"), codec.Session),
	kindOf([]byte("signInLinks"), codec.SignInLink),
	kindOf(bucketDeliveryCounts, codec.DeliveryCounts),
}
