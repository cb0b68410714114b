package store

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"teamdata/store/rows"
)

// The figures in this file are written out: they are what people were told, and a
// constant that changes fails a test.

// fixedClock is a clock of which only the time counts.
type fixedClock struct {
	rows.Rows
	now time.Time
}

func (c fixedClock) Now() time.Time { return c.now }

// Each bound is passed by what is as long as it allows, and by nothing longer.
func TestBounds(t *testing.T) {
	now := time.Date(2026, 10, 6, 12, 0, 0, 0, time.UTC)
	clock := Tx{Tx: &rows.Tx{Rows: fixedClock{now: now}}}
	later := func(ms int) time.Time { return now.Add(time.Duration(ms) * time.Millisecond) }
	long := func(n int) string { return strings.Repeat("é", n) }
	address := func(rest string) error {
		_, err := endpointURL("https://"+rest, false)
		return err
	}
	host := func(n int) string { return strings.Repeat("a.", n/2) + strings.Repeat("a", n%2) }
	const day = 24 * 60 * 60 * 1000 // ms
	for what, bound := range map[string]struct {
		most  int
		check func(n int) error
	}{
		"an address": {2048, func(n int) error { return address("a.example/" + strings.Repeat("x", n-18)) }},
		"one that is not ASCII": {2048, func(n int) error {
			return address("a.example/?" + strings.Repeat("é", 338) + strings.Repeat("x", n-2047))
		}},
		"its host":                 {253, func(n int) error { return address(host(n) + "/") }},
		"a filter's type":          {200, func(n int) error { return DeliveryFilter{Type: strings.Repeat("x", n)}.check() }},
		"an instruction":           {64 << 10, func(n int) error { return checkLength("instructions", long(n), maxInstructions) }},
		"who disabled an endpoint": {200, func(n int) error { return (&Endpoint{DisabledAt: now, DisabledBy: long(n)}).checkDisabled() }},
		"why":                      {1000, func(n int) error { return (&Endpoint{DisabledAt: now, DisabledReason: long(n)}).checkDisabled() }},
		"a past that lies ahead":   {day, func(n int) error { return checkHappened(clock, "createdAt", later(n)) }},
		"an old secret": {7 * day, func(n int) error {
			return (&Endpoint{OldSecret: "x", OldSecretUntil: later(n)}).checkOldSecret(now)
		}},
		"a portal link": {day / 24, func(n int) error {
			return checkPortal("u", Portal{Role: RoleViewer}, time.Duration(n)*time.Millisecond)
		}},
		"an event type": {128, func(n int) error { return unless(ValidEventType(strings.Repeat("x", n))) }},
	} {
		if err := bound.check(bound.most); err != nil {
			t.Errorf("%s of %d: %v", what, bound.most, err)
		}
		if bound.check(bound.most+1) == nil {
			t.Errorf("%s of %d passes", what, bound.most+1)
		}
	}
}

func unless(valid bool) error {
	if valid {
		return nil
	}
	return Errorf(CodeBadRequest, "It is not valid.")
}

// Figures whose bound other tests exercise by the name of the constant.
func TestFigures(t *testing.T) {
	const hour = time.Hour
	for what, figure := range map[string][2]any{
		"deliveries that a preview counts":         {MaxReplayCounted, 100_000},
		"deliveries that a job names":              {MaxReplayed, 1000},
		"waiting deliveries that are counted":      {MaxCountedDeliveries, 100_000},
		"waiting mails that are counted":           {MaxCountedMails, 1000},
		"shares of the endpoints":                  {Shards, 64},
		"an idempotency record":                    {IdempotencyTTL, 24 * hour},
		"a finished delivery":                      {DefaultDeliveryRetention, 30 * 24 * hour},
		"a held delivery":                          {DefaultHeldRetention, 90 * 24 * hour},
		"between two sweeps":                       {SweepEvery, 10 * time.Minute},
		"between two notes that a session is used": {SessionSeenEvery, time.Minute},
		"a session of a portal":                    {PortalSessionAge, 12 * hour},
		"a sign-in link":                           {DefaultSignInLinkTTL, 24 * hour},
		"one that was asked for by mail":           {MailedSignInLinkTTL, hour},
		"an invitation":                            {InvitationTTL, 7 * 24 * hour},
		"a replay that is over":                    {replayRetention, 7 * 24 * hour},
		"the patience of what somebody waits for":  {patience, 5 * time.Second},
	} {
		if figure[0] != figure[1] {
			t.Errorf("%s: %v, not %v", what, figure[0], figure[1])
		}
	}
}

// A step of long work has 50 records, and twice as many with each patience that passes,
// up to 51,200.
func TestSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPace(5 * time.Second)
		for _, next := range []struct {
			wait time.Duration
			step int
		}{{0, 50}, {5*time.Second - 1, 50}, {1, 100}, {40 * time.Second, 25_600}, {5 * time.Second, 51_200}, {time.Hour, 51_200}} {
			time.Sleep(next.wait)
			if got := p.step(); got != next.step {
				t.Errorf("after %s more a step has %d records, not %d", next.wait, got, next.step)
			}
		}
	})
}
