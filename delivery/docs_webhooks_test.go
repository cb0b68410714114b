package delivery

import (
	"context"
	"crypto/fips140"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/internal/signature"
	"teamdata/store"
	"teamdata/store/boltstore"
)

// webhooksDoc is docs/webhooks.md and docs/signals.md: their text, and their blocks of code and those of
// docs/webhook-samples.md by what follows their opening fence, such as "go library".
type webhooksDoc struct {
	text   string
	blocks map[string]string
}

var codeBlock = regexp.MustCompile("(?ms)^```(\\w+ [\\w.]+|http)\n(.*?)^```$")

func readWebhooksDoc(t *testing.T) webhooksDoc {
	t.Helper()
	doc := webhooksDoc{text: kit.ReadText(t, "../docs/webhooks.md") + kit.ReadText(t, "../docs/signals.md"), blocks: map[string]string{}}
	for _, found := range codeBlock.FindAllStringSubmatch(doc.text+kit.ReadText(t, "../docs/webhook-samples.md"), -1) {
		if _, twice := doc.blocks[found[1]]; twice {
			t.Errorf("there are two blocks %q", found[1])
		}
		doc.blocks[found[1]] = found[2]
	}
	return doc
}

// The examples are what is sent, and the table has the fields of each.
func TestWebhooksDocEvents(t *testing.T) {
	doc := readWebhooksDoc(t)
	events := exampleEvents(t)
	for _, eventType := range store.BuiltInEventTypes {
		if got, want := doc.blocks["json "+eventType], events[eventType]+"\n"; got != want {
			t.Errorf("the docs have as an example of %s\n%snot\n%s", eventType, got, want)
		}
		var event struct{ Data map[string]any }
		kit.Must(t, json.Unmarshal([]byte(events[eventType]), &event))
		row := regexp.MustCompile("(?m)^\\| `" + regexp.QuoteMeta(eventType) + "` .*$").FindString(doc.text)
		for field := range event.Data {
			if !strings.Contains(row, "`"+field+"`") {
				t.Errorf("the docs do not name %s among the fields of %s", field, eventType)
			}
		}
	}
}

// exampleEvents are the bodies that a store queues, an example of each event type.
func exampleEvents(t *testing.T) map[string]string {
	t.Helper()
	now := time.Date(2026, 10, 6, 12, 0, 0, 0, time.UTC)
	s, err := boltstore.Open(filepath.Join(t.TempDir(), "teamdata.db"), boltstore.Options{
		Now: func() time.Time { return now },
	})
	kit.Must(t, err)
	t.Cleanup(func() { s.Close() })
	env := &env{TB: t, store: s}
	var e store.Endpoint
	env.update(func(tx store.Tx) (err error) {
		if _, err = store.ImportOrg(tx, store.Org{ID: "org_acme", Name: "Acme", Subscription: store.Subscription{ID: "sub_acme"}}); err != nil {
			return err
		}
		e, err = store.ImportEndpoint(tx, store.Endpoint{ID: "whe_hook", OrgID: "org_acme", URL: "https://example.com/hook", Events: store.BuiltInEventTypes})
		return err
	})
	for _, happens := range []func(store.Tx) error{
		func(tx store.Tx) error {
			_, err := store.AddMember(tx, "usr_ada", store.Member{ID: "mem_6", OrgID: "org_acme", UserID: "usr_zoe", Role: "member", Name: "Zoë"})
			return err
		},
		func(tx store.Tx) error {
			_, err := store.ChangeMember(tx, "usr_ada", "org_acme", "usr_zoe", store.MemberChange{Role: new("admin"), Email: new("zoe@acme.example")})
			return err
		},
		func(tx store.Tx) error { return store.RemoveMember(tx, "usr_ada", "org_acme", "usr_zoe") },
		func(tx store.Tx) error {
			_, err := store.ChangeSubscription(tx, "", "org_acme", store.Subscription{Plan: "business", Interval: "month"})
			return err
		},
		func(tx store.Tx) error {
			_, err := store.UploadFile(tx, "usr_ada", store.File{ID: "fil_plan", OrgID: "org_acme", Name: "plan für 2027.pdf", ContentType: "application/pdf", Size: 48213})
			return err
		},
		func(tx store.Tx) error { return store.SetInstructions(tx, "usr_ada", "org_acme", "Be brief.", true) },
		func(tx store.Tx) error { _, err := store.SendTest(tx, "org_acme", e.ID); return err },
	} {
		env.update(happens)
	}
	now = now.Add(-time.Millisecond)
	env.update(makeForSignals)
	now = now.Add(time.Millisecond)
	kit.Must(t, store.Sweep(t.Context(), s, store.Retention{Finished: time.Hour, Held: time.Hour}))
	env.update(causeSignals)
	bodies := queuedBodies(env, e)
	ids := regexp.MustCompile(`(whd|evt)_[0-9A-Z]{26}`)
	for _, name := range store.Signals {
		bodies[name] = ids.ReplaceAllString(bodies[name], "${1}_01K60865992206906030338374")
	}
	return bodies
}

// makeForSignals makes what signals are about.
func makeForSignals(tx store.Tx) error {
	_, errOwner := store.ImportMember(tx, store.Member{OrgID: "org_acme", UserID: "usr_ada", Role: store.RoleOwner})
	_, errEndpoint := store.ImportEndpoint(tx, store.Endpoint{ID: "whe_crm", OrgID: "org_acme", URL: "https://example.com/crm", Events: []string{store.AllEvents}})
	_, errKey := store.ImportKey(tx, store.APIKey{ID: "key_ci", OrgID: "org_acme", Name: "ci", Scopes: store.ScopeRead, CreatedBy: "usr_ada",
		ExpiresAt: time.Date(2026, 10, 20, 12, 0, 0, 0, time.UTC)})
	return errors.Join(errOwner, errEndpoint, errKey)
}

// causeSignals causes one of each kind but apiKey.expiring.
func causeSignals(tx store.Tx) error {
	d, err := store.SendExample(tx, "org_acme", "whe_crm", store.EventMemberAdded, []byte("{}"))
	failed := store.Attempt{StartedAt: tx.Now(), EndedAt: tx.Now(), Status: 503, Reason: "the receiver answered 503 Service Unavailable"}
	for range len(store.DefaultRetrySchedule) + 1 {
		if err == nil {
			_, err = store.RecordAttempt(tx, d.ID, failed, store.DefaultRetrySchedule)
		}
	}
	if err == nil {
		err = store.EnableEndpoint(tx, "usr_ada", "org_acme", "whe_crm")
	}
	if err == nil {
		d, err = store.SendTest(tx, "org_acme", "whe_crm")
	}
	if err != nil {
		return err
	}
	_, err = store.RecordAttempt(tx, d.ID, store.Attempt{StartedAt: tx.Now(), EndedAt: tx.Now(), Status: 200}, nil)
	return errors.Join(err, store.RevokeKey(tx, "usr_ada", "org_acme", "key_ci"), store.SignalBackupFailed(tx, "org_acme", "no space left on device"),
		store.SignalCertificateExpiring(tx, "org_acme", store.CertificateStatus{
			Name: "data.example.com", NotAfter: time.Date(2026, 10, 20, 12, 0, 0, 0, time.UTC), LastError: "the authority does not answer",
		}))
}

// queuedBodies are the bodies of an endpoint's waiting deliveries, by type.
func queuedBodies(env *env, e store.Endpoint) map[string]string {
	env.Helper()
	bodies := map[string]string{}
	err := env.store.View(context.Background(), func(tx store.Tx) error {
		queued, _, err := tx.DeliveryPage(e.Number, store.ListWaiting, store.Cursor{}, 100)
		if err != nil {
			return err
		}
		for _, d := range queued {
			event, err := tx.Event(d.EventID)
			if err != nil {
				return err
			}
			bodies[event.Type] = string(event.Body)
		}
		return nil
	})
	kit.Must(env, err)
	return bodies
}

// The request at the beginning of the page is signed with the secret that the page
// names.
func TestWebhooksDocExample(t *testing.T) {
	doc := readWebhooksDoc(t)
	head, body, _ := strings.Cut(doc.blocks["http"], "\n\n")
	secret, err := signature.ParseSecret(regexp.MustCompile(`whsec_[\w+/]{32,}=*`).FindString(doc.text))
	kit.Must(t, err)
	id := regexp.MustCompile("webhook-id: (.*)").FindStringSubmatch(head)
	at := time.Date(2026, 10, 6, 12, 0, 0, 0, time.UTC).Unix()
	want := fmt.Sprintf("webhook-id: %s\nwebhook-timestamp: %d\nwebhook-signature: %s", id[1], at,
		signature.Sign(nil, id[1], at, []byte(strings.TrimSuffix(body, "\n")), secret))
	if !strings.HasSuffix(head, want) {
		t.Errorf("docs/webhooks.md has the request\n%s\nwhich should end in\n%s", head, want)
	}
}

// The page names the suites of TLS that are offered, and no others.
func TestWebhooksDocSuites(t *testing.T) {
	client, server := net.Pipe()
	config := newTransport(Config{}, nil).TLSClientConfig
	config.ServerName = "acme.example"
	go tls.Client(client, config).HandshakeContext(t.Context())
	var offered []string
	_ = tls.Server(server, &tls.Config{GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		for _, suite := range hello.CipherSuites {
			offered = append(offered, tls.CipherSuiteName(suite))
		}
		return nil, errors.New("enough")
	}}).HandshakeContext(t.Context())
	client.Close()
	var named []string
	for _, found := range regexp.MustCompile("`(TLS_\\w+)`").FindAllStringSubmatch(readWebhooksDoc(t).text, -1) {
		if !fips140.Enabled() || strings.Contains(found[1], "_GCM_") {
			named = append(named, found[1])
		}
	}
	slices.Sort(offered)
	slices.Sort(named)
	if !slices.Equal(offered, named) {
		t.Errorf("offered are\n%s\nand docs/webhooks.md names\n%s", strings.Join(offered, "\n"), strings.Join(named, "\n"))
	}
}

// The page's numbers are the defaults.
func TestWebhooksDocNumbers(t *testing.T) {
	text := readWebhooksDoc(t).text
	wants := []string{
		fmt.Sprintf("2xx within %.0f seconds", DefaultAttemptTimeout.Seconds()),
		fmt.Sprintf("An event has %d attempts", len(store.DefaultRetrySchedule)+1),
		fmt.Sprintf("for longer than %d days", store.DefaultDeliveryRetention/(24*time.Hour)),
		fmt.Sprintf("held for longer than %d days", store.DefaultHeldRetention/(24*time.Hour)),
		fmt.Sprintf("the first %d KiB is kept", store.MaxKeptAnswer>>10),
		"1, 5, 25, 125 and 625 minutes",
		"`" + strings.TrimSuffix(late(DefaultAttemptTimeout, stepTLS), unfinished[stepTLS]) + "…`",
	}
	for _, status := range []int{http.StatusBadRequest, http.StatusPermanentRedirect} {
		_, reason := answered(status)
		wants = append(wants, "`"+reason+"`")
	}
	var sum time.Duration
	for i, pause := range store.DefaultRetrySchedule {
		sum += pause
		wants = append(wants, fmt.Sprintf("| %d | %.0f | %.0f |", i+2, pause.Minutes(), sum.Minutes()))
	}
	wants = append(wants, fmt.Sprintf("%d hours and %d minute", sum/time.Hour, sum%time.Hour/time.Minute))
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("docs/webhooks.md does not say %q", want)
		}
	}
}
