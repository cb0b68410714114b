package delivery

import (
	"bytes"
	"crypto/fips140"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"hash"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/internal/signature"
	"teamdata/store"
)

// samples are the programs on docs/webhook-samples.md: each makes its code ready in a
// folder, and returns the command to run.
var samples = map[string]func(t *testing.T, folder, code string) []string{
	"go library":      goSample,
	"go standard":     goSample,
	"js library":      librarySample,
	"js standard":     scriptSample("node", "verify.mjs"),
	"python standard": pythonSample,
	"ruby standard":   rubySample,
	"sh openssl":      opensslSample,
}

// Every sample says yes or no to signed requests as it should.
func TestWebhooksDocSamples(t *testing.T) {
	blocks := readWebhooksDoc(t).blocks
	maps.DeleteFunc(blocks, func(name, _ string) bool { return name == "http" || strings.HasPrefix(name, "json ") })
	if got, want := slices.Sorted(maps.Keys(blocks)), slices.Sorted(maps.Keys(samples)); !slices.Equal(got, want) {
		t.Fatalf("docs/webhook-samples.md has the samples %q, and %q can be run", got, want)
	}
	body := exampleEvents(t)[store.EventWebhookTest]
	for name, prepare := range samples {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command := prepare(t, t.TempDir(), blocks[name])
			for i := range sampleRequests(t, body) {
				r := sampleRequests(t, body)[i] // signed now, for the sample looks at the clock
				if kit.EveryDay() && !r.everyDay() {
					continue
				}
				if said, out := r.ask(t, command); said != r.yes {
					t.Errorf("%s: it says %t\n%s", r.name, said, out)
				}
			}
		})
	}
}

func goSample(t *testing.T, folder, code string) []string {
	t.Helper()
	program := filepath.Join(folder, "verify")
	build := exec.CommandContext(t.Context(), tool(t, "go"), "build", "-ldflags", "-s -w", "-o", program, writeSample(t, folder, "main.go", code))
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return []string{program}
}

func scriptSample(interpreter, file string) func(*testing.T, string, string) []string {
	return func(t *testing.T, folder, code string) []string {
		return []string{tool(t, interpreter), writeSample(t, folder, file, code)}
	}
}

// librarySample imports from node_modules beside it.
func librarySample(t *testing.T, folder, code string) []string {
	node, npm := findNode(t)
	modules, err := filepath.Abs(filepath.Join(npm, "node_modules"))
	if err == nil {
		err = os.Symlink(modules, filepath.Join(folder, "node_modules"))
	}
	kit.Must(t, err)
	return []string{node, writeSample(t, folder, "verify.mjs", code)}
}

// pythonSample avoids the shim that python3 may be, which takes longer than the
// sample.
func pythonSample(t *testing.T, folder, code string) []string {
	out, err := exec.CommandContext(t.Context(), tool(t, "python3"), "-c", "import sys; print(sys.executable)").Output()
	kit.Must(t, err)
	return []string{strings.TrimSpace(string(out)), writeSample(t, folder, "verify.py", code)}
}

// rubySample is skipped in CI too.
func rubySample(t *testing.T, folder, code string) []string {
	if _, err := exec.LookPath("ruby"); err != nil {
		t.Skip("ruby is not installed: apt-get install ruby")
	}
	return scriptSample("ruby", "verify.rb")(t, folder, code)
}

func opensslSample(t *testing.T, folder, code string) []string {
	tool(t, "openssl")
	return scriptSample("sh", "verify.sh")(t, folder, code)
}

func tool(t *testing.T, name string) (path string) {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		kit.MustSkip(t, name+" is not installed")
	}
	return path
}

func writeSample(t *testing.T, folder, file, code string) (path string) {
	t.Helper()
	path = filepath.Join(folder, file)
	kit.WriteFile(t, path, code)
	return path
}

// ask runs a sample on the request. It says yes with status 0, no with 1.
func (r sampleRequest) ask(t *testing.T, command []string) (yes bool, out []byte) {
	t.Helper()
	c := exec.CommandContext(t.Context(), command[0], command[1:]...)
	c.Stdin = strings.NewReader(r.body)
	c.Env = append(os.Environ(), "WEBHOOK_SECRETS="+strings.Join(r.secrets, " "))
	for name, value := range map[string]string{"ID": r.id, "TIMESTAMP": r.timestamp, "SIGNATURE": r.signature} {
		if value != "" {
			c.Env = append(c.Env, "HTTP_WEBHOOK_"+name+"="+value)
		}
	}
	out, err := c.CombinedOutput()
	exit, ended := errors.AsType[*exec.ExitError](err)
	if err != nil && (!ended || exit.ExitCode() != 1) {
		t.Fatalf("%s: %v\n%s", r.name, err, out)
	}
	return err == nil, out
}

// sampleRequest is a request with the secrets of its receiver, and whether it
// verifies.
type sampleRequest struct {
	name                     string
	yes                      bool
	id, timestamp, signature string
	body                     string
	secrets                  []string
}

// sampleRequests are requests as they are sent, and others that differ from one of
// those in one respect each.
func sampleRequests(t *testing.T, body string) []sampleRequest {
	now := time.Now()
	current, old, other := store.NewEndpointSecret(), store.NewEndpointSecret(), store.NewEndpointSecret()
	plain := sampleRequest{id: "whd_01K60865992206906030338374", timestamp: unixText(now), body: body}
	at := func(from time.Duration) func(*sampleRequest) {
		return func(r *sampleRequest) { r.timestamp = unixText(now.Add(from)) }
	}
	good, both := plain.signedBy(t, current), plain.signedBy(t, current, old)
	unicode := plain.but(func(r *sampleRequest) { r.body = "{\"name\":\"Zoë 絵美子 🎉 \\u2028 \u2028 100%s \\\\n\"}\r\n\n" }).signedBy(t, current)
	_, sum, _ := strings.Cut(good.signature, ",")
	return []sampleRequest{
		good.is("good", true),
		good.is("second secret", true, other, current),
		both.is("two signatures, new secret", true, current),
		both.is("two signatures, old secret", true, old),
		unicode.is("unicode", true),
		plain.signedBy(t, longSecret).is("64 bytes of secret", true),
		plain.but(at(-4*time.Minute)).signedBy(t, current).is("4 minutes old", true),
		plain.but(at(4*time.Minute)).signedBy(t, current).is("4 minutes ahead", true),
		good.but(func(r *sampleRequest) { r.signature = "v2,AAAA v1," + sum }).is("another version's signature first", true),

		good.is("wrong secret", false, other),
		good.is("secret of wrong base64", false, current[:20]+"!"+current[21:]),
		good.but(func(r *sampleRequest) { r.signature = r.signedWithNothing() }).is("empty secret", false, "whsec_"),
		good.but(func(r *sampleRequest) { r.secrets = nil }).is("no secret", false),
		good.but(func(r *sampleRequest) { r.body = strings.Replace(body, "acme", "acne", 1) }).is("changed body", false),
		unicode.but(func(r *sampleRequest) { r.body = strings.TrimSpace(r.body) }).is("trimmed body", false),
		plain.but(at(-6*time.Minute)).signedBy(t, current).is("6 minutes old", false),
		plain.but(at(6*time.Minute)).signedBy(t, current).is("6 minutes ahead", false),
		good.but(at(time.Second)).is("another timestamp", false),
		good.but(func(r *sampleRequest) { r.timestamp = "now" }).is("timestamp of no number", false),
		good.but(func(r *sampleRequest) { r.timestamp = "" }).is("no timestamp", false),
		good.but(func(r *sampleRequest) { r.id = "whd_other" }).is("another id", false),
		plain.but(func(r *sampleRequest) { r.id = "" }).signedBy(t, current).is("no id", false),
		good.but(func(r *sampleRequest) { r.signature = "" }).is("no signature", false),
		good.but(func(r *sampleRequest) { r.signature = "v1,!" + sum[1:] }).is("signature of wrong base64", false),
		good.but(func(r *sampleRequest) { r.signature = "v1," }).is("empty signature", false),
		good.but(func(r *sampleRequest) { r.signature = "v2," + sum }).is("signature of another version", false),
	}
}

// everyDay reports whether the request is among the few that samples get every day: each of
// them starts a program.
func (r sampleRequest) everyDay() bool {
	return slices.Contains([]string{"good", "two signatures, old secret", "wrong secret", "empty secret", "changed body", "6 minutes old"}, r.name)
}

// longSecret has the most bytes allowed, and some that shells and printf treat
// specially once they are in an HMAC's pads.
var longSecret = "whsec_" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{0x36, 0x5c, '%' ^ 0x36, '\\' ^ 0x5c, '\n' ^ 0x5c, 0xff, 0, '0'}, 8))

// signedBy is the request as an endpoint with these secrets sends it, to a
// receiver that has them.
func (r sampleRequest) signedBy(t *testing.T, secrets ...string) sampleRequest {
	t.Helper()
	at, err := strconv.ParseInt(r.timestamp, 10, 64)
	kit.Must(t, err)
	var keys []signature.Secret
	for _, text := range secrets {
		key, err := signature.ParseSecret(text)
		kit.Must(t, err)
		keys = append(keys, key)
	}
	r.secrets, r.signature = secrets, string(signature.Sign(nil, r.id, at, []byte(r.body), keys...))
	return r
}

// signedWithNothing is the signature with an empty secret, which anybody can make.
// The package signature takes no such secret.
func (r sampleRequest) signedWithNothing() string {
	var mac hash.Hash
	fips140.WithoutEnforcement(func() { mac = hmac.New(sha256.New, nil) })
	mac.Write([]byte(r.id + "." + r.timestamp + "." + r.body))
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

func unixText(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }

// is sets what a sample has to say, and the receiver's secrets if some are given.
func (r sampleRequest) is(name string, yes bool, secrets ...string) sampleRequest {
	r.name, r.yes = name, yes
	if len(secrets) > 0 {
		r.secrets = secrets
	}
	return r
}

func (r sampleRequest) but(change func(*sampleRequest)) sampleRequest {
	change(&r)
	return r
}
