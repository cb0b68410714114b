package boltstore

import (
	"strings"
	"time"

	"teamdata/store"
	"teamdata/store/storetest"
)

// kind is a kind of record, for the tests that hold for all of them.
type kind struct {
	bucket  []byte // where the record lives
	samples []any  // pointers to values with their extremes; the first has every field set
	encode  func(value any) []byte
	decode  func(record []byte) (value any, err error)
}

func kindOf[T any](bucket []byte, fields func(*codec, *T)) kind {
	k := kind{
		bucket: bucket,
		encode: func(value any) []byte { return encode(fields, *value.(*T)) },
		decode: func(record []byte) (any, error) {
			value, err := decode(record, fields)
			return &value, err
		},
	}
	for _, values := range []storetest.Values{
		{Text: "é", Time: someTime}, {Text: long, Time: store.MaxTime, Most: true}, {Time: epoch, Most: true},
	} {
		sample := storetest.Sample[T](values)
		if d, ok := any(&sample).(*deliveryRecord); ok {
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
	kindOf(bucketOrgs, orgFields),
	kindOf(bucketPlans, planFields),
	kindOf(bucketMembers, memberFields),
	kindOf(bucketInstructions, instructionsFields),
	kindOf(bucketAPIKeys, apiKeyFields),
	kindOf(bucketKeyUse, keyUseFields),
	kindOf(bucketEndpoints, endpointFields),
	kindOf(bucketEvents, eventFields),
	kindOf(bucketDeliveries, recordFields),
	kindOf(bucketMails, mailFields),
	kindOf(bucketIdempotency, idempotencyFields),
	kindOf(bucketEventTypes, eventTypeFields),
	kindOf(bucketOperatorTokens, operatorTokenFields),
	kindOf(bucketAccounts, accountFields),
	kindOf(bucketSessions, sessionFields),
	kindOf(bucketSignInLinks, signInLinkFields),
	kindOf(bucketDeliveryCounts, countsFields),
}
