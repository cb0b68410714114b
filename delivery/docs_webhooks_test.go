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

// webhooksDoc is docs/webhooks.md: its text, and its blocks of code and those of
// docs/webhook-samples.md by what follows their opening fence, such as "go library".
type webhooksDoc struct {
	text   string
	blocks map[string]string
}

var codeBlock = regexp.MustCompile("(?ms)^```(\\w+ [\\w.]+|http)\n(.*?)^```$")

func readWebhooksDoc(t *testing.T) webhooksDoc {
	t.Helper()
	doc := webhooksDoc{text: kit.ReadText(t, "../docs/webhooks.md"), blocks: map[string]string{}}
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
			t.Errorf("docs/webhooks.md has as an example of %s\n%snot\n%s", eventType, got, want)
		}
		var event struct{ Data map[string]any }
		kit.Must(t, json.Unmarshal([]byte(events[eventType]), &event))
		row := regexp.MustCompile("(?m)^\\| `" + regexp.QuoteMeta(eventType) + "` .*$").FindString(doc.text)
		for field := range event.Data {
			if !strings.Contains(row, "`"+field+"`") {
				t.Errorf("docs/webhooks.md does not name %s among the fields of %s", field, eventType)
			}
		}
	}
}

// exampleEvents are the bodies that a store queues, an example of each event type.
func exampleEvents(t *testing.T) map[string]string {
	t.Helper()
	s, err := boltstore.Open(filepath.Join(t.TempDir(), "teamdata.db"), boltstore.Options{
		Now: func() time.Time { return time.Date(2026, 10, 6, 12, 0, 0, 0, time.UTC) },
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
	return queuedBodies(env, e)
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
