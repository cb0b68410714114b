// Package storetest is the suite that every engine of package store must pass.
// An engine's test calls [Run]; a test of one engine alone belongs to the
// engine.
//
// It knows an engine only through the contract: what was written is found
// again, lists keep their order, transactions are all or nothing, the queue
// hands out what is due. The fixed tests name the promises one by one; the
// random ones (random.go) run the rules of package store on the engine and on
// maps in memory, and compare all that can be read after each step. [Rules] are
// also for an engine's own tests, which kill it.
//
//	go test ./store/boltstore -run /Random -storetest.seeds=1000
package storetest

import (
	"testing"
	"time"

	"teamdata/store"
)

// Open opens the store whose data lies at path: a new one when there is nothing
// yet, otherwise what the last store opened there held when it was closed. All
// of the store's times come from now, which any goroutine may call and which
// steps back at times. What can't be opened ends the test. The suite closes the
// store, and does not crash: syncing to the disk may be left out.
type Open func(t testing.TB, path string, now func() time.Time) store.Store

var suite = []struct {
	name string
	run  func(*subject)
}{
	{"Orgs", testOrgs},
	{"Plans", testPlans},
	{"Members", testMembers},
	{"Owners", testOwners},
	{"Managers", testManagers},
	{"AuditLog", testAuditLog},
	{"Instructions", testInstructions},
	{"APIKeys", testAPIKeys},
	{"Endpoints", testEndpoints},
	{"Deliveries", testDeliveries},
	{"Mails", testMails},
	{"Certificates", testCertificates},
	{"OrgList", testOrgList},
	{"PlanList", testPlanList},
	{"APIKeyList", testAPIKeyList},
	{"EventTypes", testEventTypes},
	{"OperatorTokens", testOperatorTokens},
	{"Accounts", testAccounts},
	{"AccountEmails", testAccountEmails},
	{"SessionLists", testSessionLists},
	{"ManagedOrgs", testManagedOrgs},
	{"KeyLastUsed", testKeyLastUsed},
	{"OrgsDoNotMix", testOrgsDoNotMix},

	{"Pages", testPages},
	{"CursorsThatNameNothing", testCursorsThatNameNothing},
	{"PagesAppend", testPagesAppend},
	{"PagesBefore", testPagesBefore},
	{"DeliveryPages", testDeliveryPages},
	{"DeliveryCounts", testDeliveryCounts},
	{"DeliveryCountsKept", testDeliveryCountsKept},
	{"AttemptsAreCounted", testAttemptsAreCounted},
	{"PositionsRise", testPositionsRise},
	{"PositionsAfterImport", testPositionsAfterImport},
	{"PollersMissNothing", testPollersMissNothing},
	{"IDsRise", testIDsRise},

	{"Rollback", testRollback},
	{"FailuresAreUndoneAlone", testFailuresAreUndoneAlone},
	{"UndoneInTheSameCommit", testUndoneInTheSameCommit},
	{"Cancelled", testCancelled},
	{"OneMoment", testOneMoment},
	{"Durable", testDurable},
	{"Closed", testClosed},
	{"AccessGeneration", testAccessGeneration},

	{"IdempotencyRecords", testIdempotencyRecords},
	{"IdempotencyClockStepsBack", testIdempotencyClockStepsBack},
	{"ExpireIdempotencyRecords", testExpireIdempotencyRecords},

	{"MemberRules", testMemberRules},
	{"LastOwner", testLastOwner},
	{"OtherRules", testOtherRules},
	{"OrgRules", testOrgRules},
	{"SubscriptionRules", testSubscriptionRules},
	{"PlanRules", testPlanRules},
	{"ChangeMember", testChangeMember},
	{"KeyRules", testKeyRules},
	{"AccessEnds", testAccessEnds},
	{"OperatorTokenRules", testOperatorTokenRules},
	{"SignInLinks", testSignInLinks},
	{"SignInLinkEnds", testSignInLinkEnds},
	{"AccountAddress", testAccountAddress},
	{"AccountEnds", testAccountEnds},
	{"Passkeys", testPasskeys},
	{"Sessions", testSessions},
	{"MaxSessions", testMaxSessions},
	{"SessionLimits", testSessionLimits},
	{"SweepAmong", testSweepAmong},
	{"CreateEndpoint", testCreateEndpoint},
	{"ChangeEndpoint", testChangeEndpoint},
	{"EventTypeRules", testEventTypeRules},
	{"SelectedEventTypes", testSelectedEventTypes},
	{"FileRules", testFileRules},
	{"DoLong", testDoLong},
	{"KeptAnswers", testKeptAnswers},
	{"FailingWrites", testFailingWrites},
	{"EventsWithoutWebhooks", testEventsWithoutWebhooks},
	{"EventsToADisabledEndpoint", testEventsToADisabledEndpoint},
	{"SendTest", testSendTest},

	{"OnDue", testOnDue},
	{"EachDue", testEachDue},
	{"Claim", testClaim},
	{"ClaimsDoNotOverlap", testClaimsDoNotOverlap},
	{"RetrySchedule", testRetrySchedule},

	{"History", testHistory},
	{"Outages", testOutages},
	{"OutageTold", testOutageTold},
	{"OutageOnce", testOutageOnce},
	{"OutageAfterReplay", testOutageAfterReplay},
	{"LastAcknowledged", testLastAcknowledged},
	{"DisabledEndpoint", testDisabledEndpoint},
	{"Replay", testReplay},
	{"ReplayAtADisabledEndpoint", testReplayAtADisabledEndpoint},
	{"Recover", testRecover},
	{"RecoverSince", testRecoverSince},
	{"RecoverShortAttempt", testRecoverShortAttempt},
	{"RecoverMeanwhile", testRecoverMeanwhile},
	{"RecoverAtADisabledEndpoint", testRecoverAtADisabledEndpoint},
	{"RemovedEndpoint", testRemovedEndpoint},
	{"RemovedInFlight", testRemovedInFlight},
	{"RemovedAndMadeAgain", testRemovedAndMadeAgain},
	{"RemovedWhileRecovering", testRemovedWhileRecovering},
	{"RemovedSwept", testRemovedSwept},
	{"RemovedSweptInParts", testRemovedSweptInParts},
	{"Rotation", testRotation},
	{"PostponeMail", testPostponeMail},
	{"FinishedBefore", testFinishedBefore},
	{"Retention", testRetention},
	{"RetentionLeaves", testRetentionLeaves},
	{"RetentionIn1970", testRetentionIn1970},
	{"RetentionOfOthers", testRetentionOfOthers},
	{"RetentionMeanwhile", testRetentionMeanwhile},
}

// Run runs the suite on an engine.
func Run(t *testing.T, open Open) {
	for _, test := range suite {
		t.Run(test.name, func(t *testing.T) { test.run(newSubject(t, open)) })
	}
	t.Run("Random", func(t *testing.T) { testRandom(t, open) })
}
