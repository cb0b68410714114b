// Package storetest is the suite that every engine of package store must pass.
// An engine's test calls [Run]; a test of one engine alone belongs to the
// engine.
//
// It knows an engine only through the contract: transactions are all or nothing, a View
// is of one moment, ids rise, the queue hands out what is due. That an engine keeps rows
// is proven by rowstest, and what package store makes of rows by the tests beside it. The
// fixed tests name the promises one by one; the random ones (random.go) run the rules of
// package store on the engine and on maps in memory, and compare all that can be read
// after each step. [Rules] are also for an engine's own tests, which kill it, and
// [Subject] for the tests in package store. A new promise of an engine is a row of suite.
//
//	go test ./store/boltstore -run /Random -args -storetest.seeds=1000
package storetest

import (
	"testing"
	"time"

	"teamdata/store"
)

// Open opens the store whose data lies at path: a new one when there is nothing
// yet, otherwise what the last store opened there held when it was closed. All
// of the store's times come from now, which any goroutine may call and which
// steps back at times. A store that can't be opened ends the test. The suite closes the
// store, and does not crash: syncing to the disk may be left out.
type Open func(t testing.TB, path string, now func() time.Time) store.Store

var suite = []struct {
	name string
	run  func(*Subject)
}{
	{"DeliveryCounts", testDeliveryCounts},
	{"DeliveryCountsKept", testDeliveryCountsKept},
	{"PollersMissNothing", testPollersMissNothing},
	{"IDsRise", testIDsRise},

	{"Rollback", testRollback},
	{"Cancelled", testCancelled},
	{"OneMoment", testOneMoment},
	{"Durable", testDurable},
	{"Closed", testClosed},
	{"Coordination", testCoordination},
	{"Limiter", testLimiter},
	{"AccessGeneration", testAccessGeneration},

	{"EventsToADisabledEndpoint", testEventsToADisabledEndpoint},

	{"OnDue", testOnDue},
	{"EachDue", testEachDue},
	{"Claim", testClaim},
	{"ClaimsDoNotOverlap", testClaimsDoNotOverlap},
}

// Run runs the suite on an engine.
func Run(t *testing.T, open Open) {
	Promises(t, open)
	t.Run("FailingWrites", func(t *testing.T) { testFailingWrites(t, open) })
	Random(t, open)
}

// Promises runs its fixed tests alone, without those of each rule whose writes fail.
func Promises(t *testing.T, open Open) {
	for _, test := range suite {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(New(t, open))
		})
	}
}

// Random runs its random part alone: histories that are compared with a model.
func Random(t *testing.T, open Open) {
	t.Run("Random", func(t *testing.T) {
		t.Parallel()
		testRandom(t, open)
	})
}

const unlimited = int(^uint(0) >> 1)
