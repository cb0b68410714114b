package delivery

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/internal/signature"
	"teamdata/store"
)

// npmFolder is where npm has installed the JavaScript library, unless an
// environment variable names another folder.
const (
	npmFolder    = "testdata"
	npmFolderVar = "TEAMDATA_TEST_NPM"
)

// signed is a delivery as the JavaScript library gets it, and what it must say:
// the empty string if it verifies.
type signed struct {
	name    string
	Secret  string            `json:"secret"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
	want    string
}

// What a dispatcher sends verifies with the JavaScript library too, and a request
// that was changed on its way does not.
func TestVerifiedByJavaScript(t *testing.T) {
	node, folder := findNode(t)
	deliveries := signedDeliveries(t)
	verdicts := runNode(t, node, folder, deliveries)
	if len(verdicts) != len(deliveries) {
		t.Fatalf("%d verdicts on %d deliveries", len(verdicts), len(deliveries))
	}
	for i, d := range deliveries {
		if verdicts[i] != d.want {
			t.Errorf("%s: the library says %q, not %q", d.name, verdicts[i], d.want)
		}
	}
}

func findNode(t *testing.T) (node, folder string) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		kit.MustSkip(t, "node is not installed: apt-get install nodejs npm")
	}
	if folder = os.Getenv(npmFolderVar); folder == "" {
		folder = npmFolder
	}
	if _, err := os.Stat(filepath.Join(folder, "node_modules", "standardwebhooks")); err != nil {
		kit.MustSkip(t, "the JavaScript library is not installed: npm ci --prefix delivery/testdata, or name in "+npmFolderVar+" a folder where npm has installed it")
	}
	return node, folder
}

// signedDeliveries are deliveries that a dispatcher sent, as they came and
// changed.
func signedDeliveries(t *testing.T) []signed {
	const noMatch = "No matching signature found"
	env := newEnv(t)
	r := newReceiver(t, nil)
	env.run(Config{RootCAs: r.roots()})
	e := env.endpoint(r.URL)
	send := func() signed {
		env.sendTest(e.ID)
		return signedOf(r.next(t))
	}
	plain := send()
	second := env.rotate(e.ID, time.Hour).Secret
	inOverlap := send()
	third := env.rotate(e.ID, 0).Secret
	after := send()

	tampered := inOverlap
	tampered.Body = strings.Replace(tampered.Body, "webhook.test", "webhook.tesT", 1)
	otherID := inOverlap.with("webhook-id", "whd_other")
	old := inOverlap.with("webhook-timestamp", "1700000000")
	resigned := plain.resignedAt(t, e.Secret, time.Now().Add(-6*time.Minute))
	return []signed{
		plain.to("plain", e.Secret, ""),
		plain.to("wrong secret", second, noMatch),
		inOverlap.to("in overlap, new secret", second, ""),
		inOverlap.to("in overlap, old secret", e.Secret, ""),
		inOverlap.to("in overlap, wrong secret", store.NewEndpointSecret(), noMatch),
		after.to("after, new secret", third, ""),
		after.to("after, old secret", second, noMatch),
		tampered.to("another body", second, noMatch),
		otherID.to("another id", second, noMatch),
		old.to("another timestamp", second, "Message timestamp too old"),
		resigned.to("old", e.Secret, "Message timestamp too old"),
		plain.with("webhook-signature", "").to("no signature", e.Secret, "Missing required headers"),
	}
}

func signedOf(got received) signed {
	s := signed{Headers: map[string]string{}, Body: string(got.body)}
	for name := range got.header {
		s.Headers[name] = got.header.Get(name)
	}
	return s
}

func (s signed) to(name, secret, want string) signed {
	s.name, s.Secret, s.want = name, secret, want
	return s
}

// with returns it with another header.
func (s signed) with(name, value string) signed {
	changed := map[string]string{}
	for k, v := range s.Headers {
		if !strings.EqualFold(k, name) {
			changed[k] = v
		}
	}
	changed[name] = value
	s.Headers = changed
	return s
}

// resignedAt returns it as it would have been sent at another time.
func (s signed) resignedAt(t *testing.T, secret string, at time.Time) signed {
	t.Helper()
	parsed, err := signature.ParseSecret(secret)
	kit.Must(t, err)
	sum := signature.Sign(nil, s.Headers["Webhook-Id"], at.Unix(), []byte(s.Body), parsed)
	return s.with("webhook-timestamp", strconv.FormatInt(at.Unix(), 10)).with("webhook-signature", string(sum))
}

func runNode(t *testing.T, node, folder string, deliveries []signed) (verdicts []string) {
	t.Helper()
	var in, out, errors bytes.Buffer
	lines := json.NewEncoder(&in)
	for _, d := range deliveries {
		kit.Must(t, lines.Encode(d))
	}
	c := exec.CommandContext(t.Context(), node, "testdata/verify.mjs", folder)
	c.Stdin, c.Stdout, c.Stderr = &in, &out, &errors
	if err := c.Run(); err != nil {
		t.Fatalf("%v\n%s", err, errors.String())
	}
	for verdict := json.NewDecoder(&out); verdict.More(); {
		var text string
		kit.Must(t, verdict.Decode(&text))
		verdicts = append(verdicts, text)
	}
	return verdicts
}
