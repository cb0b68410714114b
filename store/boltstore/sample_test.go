package boltstore

import (
	"math"
	"strings"
	"time"

	"teamdata/store"
)

// kind is a kind of record, for the tests that hold for all of them.
type kind struct {
	bucket  []byte                             // where the record lives
	samples []any                              // pointers to values with their extremes; the first has every field set
	blank   func() (value any, f func(*codec)) // an empty value to read into
	fields  func(value any) func(*codec)
}

func kindOf[T any](bucket []byte, fields func(*T) func(*codec), samples ...T) kind {
	k := kind{
		bucket: bucket,
		blank: func() (any, func(*codec)) {
			value := new(T)
			return value, fields(value)
		},
		fields: func(value any) func(*codec) { return fields(value.(*T)) },
	}
	for i := range samples {
		k.samples = append(k.samples, &samples[i])
	}
	k.samples = append(k.samples, new(T))
	return k
}

var (
	someTime = time.Date(2026, 10, 6, 12, 0, 0, 123e6, time.UTC)
	epoch    = time.UnixMilli(0).UTC()
	long     = strings.Repeat("\x00é\xff", 1<<12) // not UTF-8, with zeros
	fullHash = [32]byte{0: 1, 31: 0xff}
)

var kinds = []kind{
	kindOf(bucketOrgs, orgFields,
		store.Org{ID: "org_1", Name: "Ada & Co", CreatedAt: someTime, Subscription: store.Subscription{
			ID: "sub_1", Product: "teamdata", Plan: "team", Interval: "month", Status: "active"}},
		store.Org{ID: long, Name: long, CreatedAt: store.MaxTime},
		store.Org{CreatedAt: epoch, Subscription: store.Subscription{Status: long}}),
	kindOf(bucketPlans, planFields,
		store.Plan{Name: "pro", Features: store.FeatureAPI},
		store.Plan{Name: "", Features: math.MaxUint8}),
	kindOf(bucketMembers, memberFields,
		store.Member{OrgID: "org_1", ID: "mem_1", UserID: "usr_1", Role: "owner", Name: "Ada", Email: "ada@acme.example", CreatedAt: someTime},
		store.Member{Name: long, Email: long, CreatedAt: store.MaxTime}),
	kindOf(bucketInstructions, instructionsFields,
		store.Instructions{Text: "Be brief.", Set: true, UpdatedAt: someTime},
		store.Instructions{Text: strings.Repeat("x", 64<<10), UpdatedAt: epoch}),
	kindOf(bucketAPIKeys, apiKeyFields,
		store.APIKey{ID: "key_1", OrgID: "org_1", Name: "reader", SecretHash: fullHash, Scopes: store.ScopeRead | store.ScopeWrite,
			CreatedBy: "usr_1", CreatedAt: someTime, ExpiresAt: store.MaxTime, RevokedAt: epoch},
		store.APIKey{Scopes: math.MaxUint8, RevokedAt: store.MaxTime}),
	kindOf(bucketEndpoints, endpointFields,
		store.Endpoint{Number: 1, ID: "whe_1", OrgID: "org_1", URL: "https://receiver.example/hook", Description: "d",
			Events: []string{"member.added", "webhook.test"}, Secret: "whsec_", CreatedAt: someTime, DisabledAt: someTime,
			OldSecret: "whsec_old", OldSecretUntil: someTime},
		store.Endpoint{Number: math.MaxUint64, Events: []string{"", long, ""}, DisabledAt: epoch}),
	kindOf(bucketEvents, eventFields,
		store.Event{ID: "evt_1", OrgID: "org_1", Type: "member.added", CreatedAt: someTime, Body: []byte(`{"data":{}}`),
			Deliveries: []string{"whd_1", "whd_2"}},
		store.Event{Body: make([]byte, 1<<20)}),
	kindOf(bucketDeliveries, deliveryFields,
		store.Delivery{ID: "whd_1", EventID: "evt_1", OrgID: "org_1", EndpointID: "whe_1", EndpointNumber: 7, State: store.StateRetrying,
			Attempts: 3, CreatedAt: someTime, FirstAttemptAt: someTime, DueAt: someTime, FinishedAt: someTime, EventType: "member.added",
			History: []store.Attempt{
				{StartedAt: someTime, EndedAt: someTime.Add(1500 * time.Microsecond), Status: 500, Reason: "it answered 500", Answer: []byte("no"), NextAt: someTime},
				{StartedAt: someTime, EndedAt: someTime.Add(time.Minute), TimedOut: true, Reason: "it hangs"},
			}},
		store.Delivery{EndpointNumber: math.MaxUint64, State: math.MaxUint8, Attempts: math.MaxInt, DueAt: store.MaxTime}),
	kindOf(bucketMails, mailFields,
		store.Mail{ID: "mai_1", OrgID: "org_1", To: "ada@acme.example", Name: "Ada", Template: "endpointDisabled",
			Values: map[string]string{"b": "2", "a": "1"}, CreatedAt: someTime, Attempts: 2, DueAt: someTime},
		store.Mail{Values: map[string]string{"": long}, Attempts: math.MaxInt, DueAt: store.MaxTime}),
	kindOf(bucketIdempotency, idempotencyFields,
		store.IdempotencyRecord{OrgID: "org_1", Key: "k", Fingerprint: fullHash, FirstUse: someTime,
			Answer: store.Answer{Status: 202, ContentType: "application/json", Body: []byte("{}")}},
		store.IdempotencyRecord{Key: long, Answer: store.Answer{Status: math.MaxInt, Body: make([]byte, 1<<20)}}),
	kindOf(bucketEventTypes, eventTypeFields,
		store.EventType{Name: "invoice.paid", Description: "d", Schema: []byte(`{"type":"object"}`), CreatedAt: someTime},
		store.EventType{Name: long, Schema: make([]byte, 1<<20), CreatedAt: store.MaxTime}),
	kindOf(bucketOperatorTokens, operatorTokenFields,
		store.OperatorToken{ID: "opr_1", Name: "ops", SecretHash: fullHash, CreatedAt: someTime, ExpiresAt: store.MaxTime},
		store.OperatorToken{Name: long, CreatedAt: epoch}),
	kindOf(bucketAccounts, accountFields,
		store.Account{UserID: "usr_1", Email: "Ada@acme.example", PasswordHash: "$argon2id$", PasswordAt: someTime,
			Passkeys: []store.Passkey{
				{ID: "cGFzc2tleQ", Name: "phone", Credential: []byte("{}"), CreatedAt: someTime, LastUsedAt: someTime},
				{ID: "a2V5", Name: "key", CreatedAt: epoch},
			},
			Sessions: []string{"ses_1", "ses_2"}, CreatedAt: someTime},
		store.Account{PasswordHash: long, PasswordAt: store.MaxTime, Sessions: []string{"", long}}),
	kindOf(bucketSessions, sessionFields,
		store.Session{ID: "ses_1", UserID: "usr_1", SecretHash: fullHash, UserAgent: "Browser/1", CreatedAt: someTime, LastSeenAt: someTime},
		store.Session{UserAgent: long, CreatedAt: epoch, LastSeenAt: store.MaxTime}),
	kindOf(bucketSignInLinks, signInLinkFields,
		store.SignInLink{ID: "sil_1", UserID: "usr_1", SecretHash: fullHash, CreatedAt: someTime, ExpiresAt: someTime},
		store.SignInLink{UserID: long, CreatedAt: epoch, ExpiresAt: store.MaxTime}),
	kindOf(bucketDeliveryCounts, countsFields,
		store.DeliveryCounts{Acknowledged: 1, Retrying: 2, Failed: 3, Latency: [8]int{1, 2, 3, 4, 5, 6, 7, 8}},
		store.DeliveryCounts{Acknowledged: math.MaxInt, Latency: [8]int{7: math.MaxInt}}),
}
