package teamdata

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxEvent bounds the body of an event, in bytes.
const maxEvent = 1 << 20

// ErrNotVerified is in the error of every webhook that does not verify. Answer it
// with 400. The error's text says what is wrong, and contains no secret.
var ErrNotVerified = errors.New("the webhook does not verify")

// Verifier verifies webhooks with the secrets of an endpoint, as Standard Webhooks
// specifies. It may be used by several goroutines at once.
type Verifier struct {
	// Tolerance is how far the time of signing may be from now; 0 is 5 minutes.
	Tolerance time.Duration
	// Now tells the time; nil is time.Now.
	Now func() time.Time

	keys [][]byte
}

// NewVerifier makes a verifier. A webhook that is signed with any of the secrets
// verifies: give both while a secret is rotated. A secret is whsec_ and the base64
// of 24 to 64 bytes; the error about one that is not does not contain it.
func NewVerifier(secrets ...string) (*Verifier, error) {
	if len(secrets) == 0 {
		return nil, errors.New("there is no webhook secret to verify with")
	}
	v := &Verifier{}
	for i, secret := range secrets {
		text, ok := strings.CutPrefix(secret, "whsec_")
		key, err := base64.StdEncoding.Strict().DecodeString(text)
		if !ok || err != nil || strings.ContainsAny(text, "\r\n") || len(key) < 24 || len(key) > 64 {
			return nil, fmt.Errorf("webhook secret %d of %d is malformed: it must be whsec_ followed by the base64 of 24 to 64 bytes", i+1, len(secrets))
		}
		v.keys = append(v.keys, key)
	}
	return v, nil
}

// Event is the content of a verified webhook.
type Event struct {
	// ID is the webhook-id, the same on each attempt and replay. Skip an event whose
	// ID you have handled.
	ID string
	// Type is the type of the event. Acknowledge types that you don't know.
	Type string
	// Timestamp is when the event happened.
	Timestamp time.Time
	// Data has the fields of the type.
	Data json.RawMessage
	// Body is the whole event, as it was sent.
	Body []byte
	// Header has the three headers of a webhook, to pass the event on. Only an event that a
	// [Consumer] pulled has it.
	Header http.Header
}

// Decode decodes the whole event, such as one of type member.added into a
// [MemberAdded].
func (e Event) Decode(into any) error { return json.Unmarshal(e.Body, into) }

// VerifyRequest reads the body of a request, up to 1 MiB, and verifies it.
func (v *Verifier) VerifyRequest(r *http.Request) (Event, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxEvent+1))
	if err != nil {
		return Event{}, err
	}
	if len(body) > maxEvent {
		return Event{}, notVerified("the body is larger than 1 MiB")
	}
	return v.Verify(r.Header, body)
}

// Verify verifies a webhook by its header and the bytes of its body, as they came.
func (v *Verifier) Verify(header http.Header, body []byte) (Event, error) {
	id, timestamp := value(header, "webhook-id"), value(header, "webhook-timestamp")
	if err := v.checkTime(timestamp); err != nil {
		return Event{}, err
	}
	if id == "" {
		return Event{}, notVerified("the header webhook-id is missing")
	}
	switch signed := v.signed(value(header, "webhook-signature"), id, timestamp, body); {
	case !signed && len(body) == 0:
		return Event{}, notVerified("the body is empty: something has read it before")
	case !signed:
		return Event{}, notVerified("no signature fits the body and a secret")
	}
	e := Event{ID: id, Body: body}
	var envelope struct {
		Type      string
		Timestamp time.Time
		Data      json.RawMessage
	}
	if err := json.Unmarshal(body, &envelope); err != nil {
		return Event{}, fmt.Errorf("the webhook is signed, but its body is not an event: %w", err)
	}
	e.Type, e.Timestamp, e.Data = envelope.Type, envelope.Timestamp, envelope.Data
	return e, nil
}

// value is the first value of a header, whose name has any case where something other
// than net/http made the header.
func value(header http.Header, name string) string {
	if v := header.Get(name); v != "" {
		return v
	}
	for key, values := range header {
		if strings.EqualFold(key, name) && len(values) > 0 {
			return values[0]
		}
	}
	return ""
}

func notVerified(why string) error { return fmt.Errorf("%w: %s", ErrNotVerified, why) }

func (v *Verifier) checkTime(timestamp string) error {
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return notVerified("the header webhook-timestamp is missing, or no number of seconds")
	}
	now, tolerance := time.Now, 5*time.Minute
	if v.Now != nil {
		now = v.Now
	}
	if v.Tolerance > 0 {
		tolerance = v.Tolerance
	}
	if off := now().Sub(time.Unix(seconds, 0)); off.Abs() > tolerance {
		return notVerified(fmt.Sprintf("it was signed %s from now; look at the clock", off.Abs().Truncate(time.Second)))
	}
	return nil
}

// signed compares every signature with every secret's. How long that takes tells
// nothing about a secret.
func (v *Verifier) signed(signatures, id, timestamp string, body []byte) bool {
	for _, key := range v.keys {
		mac := hmac.New(sha256.New, key)
		io.WriteString(mac, id+"."+timestamp+".")
		mac.Write(body)
		want := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
		for given := range strings.SplitSeq(signatures, " ") {
			if hmac.Equal([]byte(given), want) {
				return true
			}
		}
	}
	return false
}
