package settings

import (
	"regexp"
	"testing"
	"time"

	"teamdata/store"
)

const ownSecret = "whsec_dGVhbWRhdGEtZXhhbXBsZS1zZWNyZXQtMzItYnl0ZXM="

// endpoint adds an endpoint to org_acme.
func (w *world) endpoint(id string, events ...string) (e store.Endpoint) {
	w.Helper()
	w.update(func(tx store.Tx) (err error) {
		e, err = store.CreateEndpoint(tx, "usr_ada", store.Endpoint{ID: id, OrgID: "org_acme", URL: "https://example.com/" + id, Events: events, Secret: ownSecret})
		return err
	})
	return e
}

// findEndpoint is an endpoint of org_acme as it is now.
func (w *world) findEndpoint(id string) (e store.Endpoint) {
	w.Helper()
	w.view(func(tx store.Tx) (err error) {
		e, err = store.FindEndpoint(tx, "org_acme", id)
		return err
	})
	return e
}

// test queues a test event for an endpoint of org_acme.
func (w *world) test(endpointID string) (d store.Delivery) {
	w.Helper()
	w.update(func(tx store.Tx) (err error) {
		d, err = store.SendTest(tx, "org_acme", endpointID)
		return err
	})
	return d
}

// attempt records the outcome of an attempt; an empty reason: acknowledged.
func (w *world) attempt(deliveryID string, status int, reason, answer string, schedule ...time.Duration) {
	w.Helper()
	w.update(func(tx store.Tx) error {
		_, err := store.RecordAttempt(tx, deliveryID, store.Attempt{
			StartedAt: tx.Now(), EndedAt: tx.Now().Add(12345 * time.Microsecond), Status: status, Reason: reason, Answer: []byte(answer),
		}, schedule)
		return err
	})
}

var nonceForm = regexp.MustCompile(`name="nonce" value="([^"]+)"`)

// nonce is that of the form on a page.
func (b *browser) nonce(path string) string {
	b.Helper()
	r := b.get(path)
	found := nonceForm.FindStringSubmatch(r.body)
	if found == nil {
		b.Fatalf("%s has no nonce: %d %.2000s", path, r.status, r.body)
	}
	return found[1]
}

// leads holds a reply to leading to a page.
func (r reply) leads(t testing.TB, path string) {
	t.Helper()
	if r.status != 303 || r.location != Path+path {
		t.Fatalf("got %d %q, want %q: %.2000s", r.status, r.location, Path+path, r.body)
	}
}

func TestEndpointList(t *testing.T) {
	w := newWorld(t)
	b := w.signedIn("usr_ada")
	b.get("/orgs/org_acme/endpoints").wants(t, 200, "No endpoints yet", "/orgs/org_acme/new-endpoint")
	w.endpoint("whe_1", "member.added", "member.removed", "file.uploaded")
	w.endpoint("whe_2", "file.uploaded")
	w.attempt(w.test("whe_1").ID, 204, "", "")
	w.attempt(w.test("whe_1").ID, 503, "the receiver answered 503", "", time.Hour)
	w.update(func(tx store.Tx) error { return store.DisableEndpoint(tx, "usr_ada", "org_acme", "whe_2") })
	b.get("/orgs/org_acme/endpoints").wants(t, 200, "https://example.com/whe_1", "member.added and 2 more",
		"1 acknowledged,<br>1 unsuccessful", `endpoints/whe_1/deliveries?state=waiting">1<`, `disabled</span> since <time datetime="2026-10-06T12:00:00.000Z"`, "none", "never", `aria-current="page">Webhooks`)
	w.pass(25 * time.Hour)
	w.signedIn("usr_ada").get("/orgs/org_acme/endpoints/whe_1").wants(t, 200, "<strong>0</strong> acknowledged", "<strong>1</strong> waiting")
}

func TestManyWaiting(t *testing.T) {
	w := newWorld(t)
	w.endpoint("whe_1", "member.added")
	for n, want := range map[int]string{maxWaiting - 1: "999", maxWaiting: "1,000", maxWaiting + 1: "1,000+"} {
		if got := (health{Waiting: n}).WaitingText(); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
	w.update(func(tx store.Tx) error {
		for range maxWaiting + 5 {
			if _, err := store.SendTest(tx, "org_acme", "whe_1"); err != nil {
				return err
			}
		}
		return nil
	})
	w.signedIn("usr_ada").get("/orgs/org_acme/endpoints").wants(t, 200, ">1,000&#43;<")
}
