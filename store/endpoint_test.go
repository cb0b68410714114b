package store_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"teamdata/store"
	"teamdata/store/boltstore"
	"teamdata/store/storetest"
)

// TestDisabledEndpoint: what is sent to it is held, and goes out in order once
// it is enabled.
func TestDisabledEndpoint(t *testing.T) { onBoth(t, testDisabledEndpoint) }

func testDisabledEndpoint(s *subject) {
	notified := s.Notices()
	endpoint := s.Seed()
	ids := s.sendTests("whe_1", 3)
	start := s.Clock.Now()
	s.try(ids[0], start, 200)
	s.try(ids[2], start, 500)
	s.Clock.Move(time.Millisecond)
	at := s.Clock.Now()
	added := s.newAudit(func() { s.Write(switchEndpoint(acme, "whe_1", false)) })
	s.shows("the audit entry", added, `"action":"endpoint.disabled"`, `"actorId":"usr_ada"`, `"targetId":"whe_1"`)
	s.Equal("disabled at", s.Endpoint("whe_1").DisabledAt, at)

	s.Clock.Move(time.Hour)
	s.Write(upload)
	s.Equal("due while disabled", s.Claimable(), []string{})
	s.Equal("each due while disabled", s.Due(), map[uint64]time.Time{})
	s.statesAt(ids, store.StateAcknowledged, store.StateHeld, store.StateHeld)
	waiting := s.Listed(endpoint.Number, store.ListWaiting)
	s.Equal("deliveries in the waiting list", len(waiting), 3)

	added = s.newAudit(func() { s.Write(switchEndpoint(acme, "whe_1", false)) })
	s.Equal("audit entries when it is disabled again", added, "")
	s.Equal("disabled at, still", s.Endpoint("whe_1").DisabledAt, at)

	notified.Take()
	added = s.newAudit(func() { s.Write(switchEndpoint(acme, "whe_1", true)) })
	s.shows("the audit entry", added, `"action":"endpoint.enabled"`, `"actorId":"usr_ada"`, `"targetId":"whe_1"`)
	s.Equal("notified when it is enabled", notified.Take(), []storetest.Notice{{Endpoint: endpoint.Number, Due: start}})
	s.Equal("due once enabled, in order", s.Claimable(), []string{ids[1], ids[2], waiting[2]})
	s.statesAt(ids, store.StateAcknowledged, store.StatePending, store.StateRetrying)
	added = s.newAudit(func() { s.Write(switchEndpoint(acme, "whe_1", true)) })
	s.Equal("audit entries when it is enabled again", added, "")
	for _, enabled := range []bool{true, false} {
		s.refused(fmt.Sprintf("switching another org's endpoint, %v", enabled), store.CodeNotFound, switchEndpoint(other, "whe_1", enabled))
		s.refused(fmt.Sprintf("switching no endpoint, %v", enabled), store.CodeNotFound, switchEndpoint(acme, "whe_none", enabled))
	}
}

// signs holds the endpoint to the secrets that sign at a time.
func (s *subject) signs(what string, at time.Time, want ...string) {
	s.Helper()
	e := s.Endpoint("whe_1")
	s.Equal(what, e.Secrets(at), want)
}

func TestRotation(t *testing.T) { onBoth(t, testRotation) }

func testRotation(s *subject) {
	first := s.Seed().Secret
	second, third, fourth := secretOf(2, 24), secretOf(3, 64), secretOf(4, 32)
	now := s.Clock.Now()
	s.signs("before", now, first)

	added := s.newAudit(func() { s.Write(rotate(second, 0)) })
	s.shows("the audit entry", added, `"action":"endpoint.secretRotated"`, `"actorId":"usr_ada"`, `"targetId":"whe_1"`)
	s.signs("rotated at once", now, second)
	e := s.Endpoint("whe_1")
	s.Equal("what is kept of the old secret", fmt.Sprint(e.OldSecret, e.OldSecretUntil), fmt.Sprint("", time.Time{}))

	s.Write(rotate(third, time.Hour))
	s.Reopen()
	s.signs("with an overlap", now, third, second)
	s.signs("just before its end", now.Add(time.Hour-time.Millisecond), third, second)
	s.signs("at its end", now.Add(time.Hour), third)

	s.Clock.Move(time.Minute)
	s.Write(rotate(fourth, 7*day))
	now = s.Clock.Now()
	s.signs("twice within an overlap", now, fourth, third)
	s.signs("just before the end of the longest", now.Add(7*24*time.Hour-time.Millisecond), fourth, third)
	s.signs("at the end of the longest", now.Add(7*24*time.Hour), fourth)
	s.Write(rotate(first, 0))
	s.signs("at once, within an overlap", now, first)
	s.newSecretIsMade()
	s.refusedRotations()
}

func (s *subject) newSecretIsMade() {
	s.Helper()
	var e store.Endpoint
	before := s.Endpoint("whe_1")
	s.Write(func(tx store.Tx) (err error) {
		e, err = store.RotateSecret(tx, ada, acme, "whe_1", "", 0)
		return err
	})
	s.Equal("the endpoint that is returned", e, s.Endpoint("whe_1"))
	s.Equal("the secret is another", e.Secret != before.Secret, true)
	b, err := base64.StdEncoding.DecodeString(e.Secret[len("whsec_"):])
	s.Equal("bytes of a secret that is made", fmt.Sprint(len(b), err), "32 <nil>")
	before.Secret = e.Secret
	s.Equal("all else of the endpoint", e, before)
}

func (s *subject) refusedRotations() {
	s.Helper()
	good := secretOf(9, 32)
	for what, rule := range map[string]func(store.Tx) error{
		"23 bytes":               rotate(secretOf(9, 23), 0),
		"65 bytes":               rotate(secretOf(9, 65), 0),
		"no prefix":              rotate(good[1:], 0),
		"no base64":              rotate("whsec_????", 0),
		"a negative overlap":     rotate(good, -time.Millisecond),
		"an overlap of too long": rotate(good, 7*24*time.Hour+time.Millisecond),
		"the same secret":        rotate(s.Endpoint("whe_1").Secret, time.Hour),
	} {
		s.refused(what, store.CodeBadRequest, rule)
	}
	for what, where := range map[string]pair{"of another org": {other, "whe_1"}, "of none": {acme, "whe_none"}} {
		s.refused("the secret "+what, store.CodeNotFound, func(tx store.Tx) error {
			_, err := store.RotateSecret(tx, ada, where.a, where.b, good, 0)
			return err
		})
	}
}

func TestCreateEndpoint(t *testing.T) { onBoth(t, testCreateEndpoint) }

func testCreateEndpoint(s *subject) {
	s.Seed()
	s.does("an endpoint is made", createEndpoint(newEndpoint(acme, "whe_2")), effects{actions: []string{"endpoint.created whe_2"}})
	e := s.Endpoint("whe_2")
	s.Equal("made at", e.CreatedAt, s.Clock.Now())
	s.refused("an endpoint of that id", store.CodeConflict, createEndpoint(e))
	s.Write(createEndpoint(newEndpoint(other, "whe_2")))
	s.Equal("another org's of that id has another number", s.Endpoint("whe_2").Number, e.Number)
	s.refused("an endpoint of no org", store.CodeNotFound, createEndpoint(newEndpoint("org_none", "whe_3")))
	for what, spoil := range map[string]func(*store.Endpoint){
		"no id":              func(e *store.Endpoint) { e.ID = "whe.3" },
		"a long URL":         func(e *store.Endpoint) { e.URL = "https://example.com/" + strings.Repeat("x", 2029) },
		"http":               func(e *store.Endpoint) { e.URL = "http://example.com/" },
		"a long description": func(e *store.Endpoint) { e.Description = tooLong(500) },
		"a short secret":     func(e *store.Endpoint) { e.Secret = secretOf(1, 23) },
		"no event type":      func(e *store.Endpoint) { e.Events = nil },
		"an unknown type":    func(e *store.Endpoint) { e.Events = []string{"invoice.paid"} },
		"a type twice":       func(e *store.Endpoint) { e.Events = []string{"webhook.test", "member.added", "webhook.test"} },
	} {
		bad := newEndpoint(acme, "whe_3")
		spoil(&bad)
		s.refused("an endpoint with "+what, store.CodeBadRequest, createEndpoint(bad))
	}
	for i := 3; i <= 50; i++ {
		s.Write(createEndpoint(newEndpoint(acme, fmt.Sprint("whe_", i))))
	}
	s.refused("an endpoint too many", store.CodeConflict, createEndpoint(newEndpoint(acme, "whe_51")))
	s.Write(removeEndpoint(acme, "whe_3"))
	s.Write(createEndpoint(newEndpoint(acme, "whe_51")))
	s.refused("an endpoint too many again", store.CodeConflict, createEndpoint(newEndpoint(acme, "whe_52")))
}

// Plain HTTP is for receivers on the same machine, where the engine was told so.
func TestHTTPOnLoopback(t *testing.T) {
	onLoopback := []string{"http://127.0.0.1:8080/hook", "http://127.9.9.9/", "http://[::1]:8080/", "HTTP://LocalHost:8080/", "http://[::ffff:127.0.0.1]/"}
	elsewhere := []string{"http://example.com/", "http://10.0.0.7/", "http://localhost.example.com/", "http://127.0.0.1.example.com/", "http://127.0.0.1@10.0.0.7/", "http://2130706433/", "http:127.0.0.1", "ftp://127.0.0.1/"}
	for _, allowed := range []bool{false, true} {
		t.Run(fmt.Sprint(allowed), func(t *testing.T) {
			s := &subject{storetest.New(t, func(t testing.TB, path string, now func() time.Time) store.Store {
				opened, err := boltstore.Open(path, boltstore.Options{Now: now, NoSync: true, MapSize: 64 << 20, ForTests: allowed})
				if err != nil {
					t.Fatal(err)
				}
				return opened
			})}
			s.Seed()
			for i, url := range slices.Concat(onLoopback, elsewhere) {
				e := newEndpoint(other, fmt.Sprint("whe_", i))
				e.URL = url
				change := changeEndpoint(acme, "whe_1", store.EndpointChange{URL: &url})
				if allowed && i < len(onLoopback) {
					s.Write(createEndpoint(e))
					s.Write(change)
					continue
				}
				s.refused("an endpoint at "+url, store.CodeBadRequest, createEndpoint(e))
				s.refused("a move to "+url, store.CodeBadRequest, change)
			}
		})
	}
}

// However a URL is typed, one form of it is kept; what nobody would see in it is refused.
func TestEndpointURLs(t *testing.T) { onBoth(t, testEndpointURLs) }

func testEndpointURLs(s *subject) {
	old := s.Seed()
	typed, want := " https://BÜCHER.example:8443/a b?team=Acme Inc&name=Zoë\n", "https://xn--bcher-kva.example:8443/a%20b?team=Acme%20Inc&name=Zo%C3%AB"
	e := newEndpoint(acme, "whe_2")
	e.URL = typed
	s.Write(createEndpoint(e))
	s.Equal("made", s.Endpoint("whe_2").URL, want)
	s.Write(changeEndpoint(acme, "whe_1", store.EndpointChange{URL: &typed}))
	s.Equal("changed", s.Endpoint("whe_1").URL, want)
	s.changesNothing("the same", changeEndpoint(acme, "whe_1", store.EndpointChange{URL: &typed}))
	for _, bad := range []string{"https://example.com/hook\u200b", "https://exa\u00admple.com/", "https://example.com/?a\nb", "https://example.com/?a=\xff", "https://é_1.example/", "https://1 .example/"} {
		e := newEndpoint(acme, "whe_3")
		e.URL = bad
		s.refused("an endpoint at "+bad, store.CodeBadRequest, createEndpoint(e))
		s.refused("a move to "+bad, store.CodeBadRequest, changeEndpoint(acme, "whe_1", store.EndpointChange{URL: &bad}))
	}

	old.URL = "https://Bücher.example:8443/a b?team=Acme Inc&name=Zo%C3%AB" // as it was stored once
	s.Write(func(tx store.Tx) error { return tx.PutEndpoint(old) })
	description := "The CRM"
	s.Write(changeEndpoint(acme, "whe_1", store.EndpointChange{Description: &description}))
	s.Equal("a URL that is not changed", s.Endpoint("whe_1").URL, old.URL)
	s.Write(func(tx store.Tx) error {
		ids, err := store.WithSameURL(tx, e)
		s.Equal("with the same URL", ids, []string{"whe_1"})
		return err
	})
}

func TestChangeEndpoint(t *testing.T) { onBoth(t, testChangeEndpoint) }

func testChangeEndpoint(s *subject) {
	endpoint := s.Seed()
	s.Write(createEndpoint(newEndpoint(other, "whe_1")))
	id := s.sendTests("whe_1", 1)[0]
	text := func(t string) *string { return &t }
	changed := effects{actions: []string{"endpoint.changed whe_1"}}
	longest := "https://example.com/" + strings.Repeat("x", 2028)
	s.Write(changeEndpoint(acme, "whe_1", store.EndpointChange{URL: text(longest)}))
	claims, err := s.Claim(context.Background(), endpoint.Number, s.Clock.Now(), 10)
	s.Code("claim", err, "")
	s.Equal("what waits goes to the new address", []any{deliveryIDs(claims), claims.Endpoint.URL}, []any{[]string{id}, longest})

	s.does("another description", changeEndpoint(acme, "whe_1", store.EndpointChange{Description: text(strings.Repeat("é", 500))}), changed)
	s.does("other types", changeEndpoint(acme, "whe_1", store.EndpointChange{Events: []string{store.EventMemberAdded}}), changed)
	s.does("what is not selected", uploadFile("fil_1"), one("file.uploaded fil_1"))
	s.changesNothing("nothing given", changeEndpoint(acme, "whe_1", store.EndpointChange{}))
	s.changesNothing("the same", changeEndpoint(acme, "whe_1", store.EndpointChange{URL: text(longest), Events: []string{store.EventMemberAdded}}))
	for what, bad := range map[string]store.EndpointChange{
		"no URL": {URL: text("")}, "a long URL": {URL: text(longest + "x")}, "a long description": {Description: text(tooLong(500))},
		"no type": {Events: []string{}}, "an unknown type": {Events: []string{"none"}},
	} {
		s.refused(what, store.CodeBadRequest, changeEndpoint(acme, "whe_1", bad))
	}
	s.refused("no endpoint", store.CodeNotFound, changeEndpoint(acme, "whe_none", store.EndpointChange{}))
	s.refused("the endpoint of no org", store.CodeNotFound, changeEndpoint("org_none", "whe_1", store.EndpointChange{}))

	s.Write(switchEndpoint(acme, "whe_1", false))
	s.Write(changeEndpoint(acme, "whe_1", store.EndpointChange{URL: text("https://example.com/2")}))
	s.Equal("changed while it is disabled, it stays so", s.Due(), map[uint64]time.Time{})
	want := endpoint
	want.URL, want.Description, want.Events, want.DisabledAt, want.DisabledBy = "https://example.com/2", strings.Repeat("é", 500), []string{store.EventMemberAdded}, s.Clock.Now(), ada
	s.Equal("the endpoint", s.Endpoint("whe_1"), want)
}

func createEndpoint(e store.Endpoint) func(store.Tx) error {
	return func(tx store.Tx) error { return second(store.CreateEndpoint(tx, ada, e)) }
}

func removeEndpoint(org, id string) func(store.Tx) error {
	return func(tx store.Tx) error { return store.RemoveEndpoint(tx, ada, org, id) }
}

func changeEndpoint(org, id string, c store.EndpointChange) func(store.Tx) error {
	return func(tx store.Tx) error { return second(store.ChangeEndpoint(tx, ada, org, id, c)) }
}

func switchEndpoint(org, id string, enabled bool) func(store.Tx) error {
	return func(tx store.Tx) error {
		if enabled {
			return store.EnableEndpoint(tx, ada, org, id)
		}
		return store.DisableEndpoint(tx, ada, org, id)
	}
}

func rotate(secret string, overlap time.Duration) func(store.Tx) error {
	return func(tx store.Tx) error {
		_, err := store.RotateSecret(tx, ada, acme, "whe_1", secret, overlap)
		return err
	}
}

// secretOf makes a secret of n bytes that begin with mark.
func secretOf(mark byte, n int) string {
	b := make([]byte, n)
	b[0] = mark
	return "whsec_" + base64.StdEncoding.EncodeToString(b)
}

// The first time that a request of an endpoint was verified stays, and nobody is told.
func TestNoteVerified(t *testing.T) { onBoth(t, testNoteVerified) }

func testNoteVerified(s *subject) {
	s.Seed()
	verified := func(tx store.Tx) error { return store.NoteVerified(tx, acme, "whe_1") }
	first := s.Clock.Now()
	s.Write(verified)
	s.Clock.Move(time.Hour)
	if added := s.newAudit(func() { s.Write(verified) }); added != "" {
		s.Errorf("the audit log has %s", added)
	}
	s.Equal("verified at", s.Endpoint("whe_1").VerifiedAt, first)
	if err := s.Attempt(func(tx store.Tx) error { return store.NoteVerified(tx, acme, "whe_none") }); !store.IsNotFound(err) {
		s.Errorf("an endpoint that there is not: %v", err)
	}
}
