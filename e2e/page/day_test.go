package page_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/rs/zerolog"

	"teamdata/admin/settings"
	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
	"teamdata/internal/signature"
	"teamdata/store"
	"teamdata/store/boltstore"
)

// pictured is when the pictures were made, for the pages.
var pictured = time.Date(2026, 11, 24, 14, 28, 20, 0, time.UTC)

// day is the settings page of an org, one of whose endpoints has failed more and more often
// since the night. Its clock stands still, and all that happened follows from a seed.
type day struct {
	*past
	random *rand.Rand
	server *httptest.Server
	cookie string
}

func newDay(t *testing.T) *day {
	t.Helper()
	d := &day{past: &past{t: t, now: pictured.AddDate(0, -8, -10)}, random: rand.New(rand.NewPCG(51, 1))}
	s, err := boltstore.Open(filepath.Join(t.TempDir(), "teamdata.db"), boltstore.Options{NoSync: true, Now: func() time.Time { return d.now }})
	kit.Must(t, err)
	t.Cleanup(func() { s.Close() })
	d.store = s
	d.update(fillDay)
	for d.now = pictured.Add(-24 * time.Hour); d.now.Before(pictured); d.now = d.now.Add(time.Minute) {
		d.update(d.passMinute)
	}
	d.now = pictured.Add(-time.Minute)
	d.update(d.failLast)
	d.now = pictured
	d.update(func(tx store.Tx) (err error) {
		if _, _, err = store.CreateSignInLink(tx, "org_acme", "usr_ada", time.Hour); err == nil {
			_, d.cookie, err = store.CreateSession(tx, "usr_ada", "Firefox")
		}
		return err
	})
	d.server = httptest.NewUnstartedServer(nil)
	d.server.Config.Handler = settings.New(s, settings.Config{PublicURL: "https://" + d.server.Listener.Addr().String(), Version: "1.0.0", Log: zerolog.Nop(), Mailed: func() {}})
	d.server.StartTLS()
	t.Cleanup(d.server.Close)
	return d
}

// fillDay makes the org, a part of the year before.
func fillDay(tx store.Tx) error {
	if _, err := store.CreateOrg(tx, "", store.Org{ID: "org_acme", Name: "Acme", Subscription: store.Subscription{Plan: "business", Interval: "month"}}); err != nil {
		return err
	}
	for i := range 48 {
		m := store.Member{OrgID: "org_acme", UserID: fmt.Sprintf("usr_%02d", i), Role: store.RoleMember}
		if i == 0 {
			m.UserID, m.Role, m.Name, m.Email = "usr_ada", store.RoleOwner, "Ada Okafor", "ada@acme.example"
		}
		if _, err := store.AddMember(tx, "", m); err != nil {
			return err
		}
	}
	for range 14 {
		if _, _, err := store.CreateKey(tx, "usr_ada", store.APIKey{OrgID: "org_acme", Scopes: store.ScopeRead, CreatedBy: "usr_ada"}); err != nil {
			return err
		}
	}
	for _, e := range []store.Endpoint{
		{ID: "whe_billing", URL: "https://billing.acme.example/webhooks", Events: []string{"member.added", "subscription.changed"}, Secret: storySecret},
		{ID: "whe_crm", URL: "https://crm.acme.example/hook", Events: []string{"file.uploaded"}},
	} {
		e.OrgID = "org_acme"
		if _, err := store.CreateEndpoint(tx, "usr_ada", e); err != nil {
			return err
		}
	}
	return nil
}

// passMinute lets an event happen, more often by day, and makes all attempts that are due.
func (d *day) passMinute(tx store.Tx) error {
	if perHour := 32 - 24*math.Cos(2*math.Pi*float64(tx.Now().Hour()-3)/24); d.random.Float64() < perHour/60 {
		eventType, data := "member.added", fmt.Sprintf(`{"orgId":"org_acme","userId":"usr_%d"}`, 48+d.random.IntN(50))
		if d.random.IntN(5) == 0 {
			eventType, data = "subscription.changed", `{"orgId":"org_acme","plan":"business"}`
		}
		if _, err := store.Emit(tx, "org_acme", eventType, []byte(data)); err != nil {
			return err
		}
	}
	e, err := tx.Endpoint("org_acme", "whe_billing")
	if err != nil {
		return err
	}
	due, _, err := tx.DeliveryPage(e.Number, store.ListWaiting, store.Cursor{}, 1000)
	for _, waiting := range due {
		if err == nil && !waiting.DueAt.After(tx.Now()) {
			_, err = store.RecordAttempt(tx, waiting.ID, d.attempt(waiting.EventType, tx.Now()), store.DefaultRetrySchedule)
		}
	}
	return err
}

// failLast makes the last attempt of the delivery that has had most of them, so that the
// picture has one that failed for good.
func (d *day) failLast(tx store.Tx) error {
	e, err := tx.Endpoint("org_acme", "whe_billing")
	if err != nil {
		return err
	}
	waiting, _, err := tx.DeliveryPage(e.Number, store.ListWaiting, store.Cursor{}, 1000)
	if err != nil {
		return err
	}
	most := slices.MaxFunc(waiting, func(a, b store.Delivery) int { return a.Attempts - b.Attempts })
	_, err = store.RecordAttempt(tx, most.ID, d.attempt(most.EventType, tx.Now()), store.DefaultRetrySchedule)
	return err
}

// attempt is one at the endpoint: since the night it has failed for events of one type, and
// more and more often for the others.
func (d *day) attempt(eventType string, now time.Time) store.Attempt {
	ago := pictured.Sub(now).Hours()
	now = now.Add(time.Duration(d.random.IntN(55)) * time.Second)
	a := store.Attempt{StartedAt: now, Status: 200, EndedAt: now.Add(time.Duration(40+d.random.ExpFloat64()*60+d.random.ExpFloat64()*400/(1+ago)) * time.Millisecond)}
	if ago < 14.2 && (eventType == "subscription.changed" || d.random.Float64() < 0.4-ago/35) {
		a.Status, a.Reason, a.Answer = 500, "the receiver answered 500 Internal Server Error", []byte(`relation "invoices_2026" does not exist`)
	}
	return a
}

// openTab opens a browser, which is signed in, and whose clock stands still too.
func (d *day) openTab() *tab {
	d.t.Helper()
	p := &program.Process{T: d.t, Out: kit.NewOutput()}
	b := &tab{Process: p, t: d.t, ctx: startChromium(d.t.(*testing.T), keyHashOf(d.server.Certificate())), base: d.server.URL}
	b.listen()
	b.signIn(d.cookie)
	send(b, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "UTC"})
	send(b, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: fmt.Sprintf(
		`{ const now = %d; Date = class extends Date { constructor(...at) { at.length ? super(...at) : super(now); } static now() { return now; } }; }`, pictured.UnixMilli())})
	return b
}

// reformattedRequest is the form that has a request checked whose body was parsed and
// written again before it was verified.
func (d *day) reformattedRequest() map[string]any {
	var of store.Delivery
	var event store.Event
	d.update(func(tx store.Tx) error {
		e, err := tx.Endpoint("org_acme", "whe_billing")
		if err != nil {
			return err
		}
		latest, err := tx.LatestDeliveries([]uint64{e.Number}, []store.DeliveryList{store.ListAcknowledged}, store.Cursor{}, 1)
		if err != nil {
			return err
		}
		of = latest[0]
		event, err = tx.Event(of.EventID)
		return err
	})
	secret, err := signature.ParseSecret(storySecret)
	kit.Must(d.t, err)
	sent := of.LastAttempt().StartedAt
	headers := fmt.Sprintf("webhook-id: %s\nwebhook-timestamp: %d\nwebhook-signature: %s", of.ID, sent.Unix(), signature.Sign(nil, of.ID, sent.Unix(), event.Body, secret))
	return map[string]any{"headers": headers, "body": spaced(event.Body), "when": "then", "received": sent.Add(2 * time.Second).Format("2006-01-02T15:04:05")}
}

// spaced is JSON with a space after each colon and comma, as Python's json.dumps has it.
func spaced(body []byte) string {
	var out bytes.Buffer
	inText := false
	for _, c := range string(body) {
		out.WriteRune(c)
		if c == '"' { // none is escaped here
			inText = !inText
		}
		if !inText && strings.ContainsRune(":,", c) {
			out.WriteByte(' ')
		}
	}
	return out.String()
}
