package delivery

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"testing"
	"time"

	"teamdata/internal/signature"
	"teamdata/store"
)

// sampleRequest is a request with the secrets of its receiver, and whether it
// verifies.
type sampleRequest struct {
	name                     string
	yes                      bool
	id, timestamp, signature string
	body                     string
	secrets                  []string
}

// sampleRequests are requests as they are sent, and others that each differ from
// one of those in one thing.
func sampleRequests(t *testing.T) []sampleRequest {
	now, body := time.Now(), exampleEvents(t)[store.EventWebhookTest]
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

// longSecret has the most bytes, and some that shells and printf take for
// something else once they are in an HMAC's pads.
var longSecret = "whsec_" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{0x36, 0x5c, '%' ^ 0x36, '\\' ^ 0x5c, '\n' ^ 0x5c, 0xff, 0, '0'}, 8))

// signedBy is the request as an endpoint with these secrets sends it, to a
// receiver that has them.
func (r sampleRequest) signedBy(t *testing.T, secrets ...string) sampleRequest {
	t.Helper()
	at, err := strconv.ParseInt(r.timestamp, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	var keys []signature.Secret
	for _, text := range secrets {
		key, err := signature.ParseSecret(text)
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key)
	}
	r.secrets, r.signature = secrets, string(signature.Sign(nil, r.id, at, []byte(r.body), keys...))
	return r
}

// signedWithNothing is what anybody can sign for an empty secret. The package
// signature takes none.
func (r sampleRequest) signedWithNothing() string {
	mac := hmac.New(sha256.New, nil)
	mac.Write([]byte(r.id + "." + r.timestamp + "." + r.body))
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

func unixText(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }

// is says what a sample has to say, of a receiver that has other secrets if some
// are given.
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
