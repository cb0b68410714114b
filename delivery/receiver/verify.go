package receiver

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"teamdata/internal/hint"
)

// Secrets are the secrets of an endpoint: one, or two during a rotation. Each is a
// function, so printing never shows a secret.
type Secrets []func() *standardwebhooks.Webhook

// The specification's bounds for the bytes of a secret. The library accepts any,
// even an empty one, with which anyone could sign.
const minBytes, maxBytes = 24, 64

// ParseSecrets reads secrets of endpoints, separated by white space: "whsec_" and the
// base64 of 24 to 64 bytes. The error is one line that says which one is wrong and
// contains no part of the text.
func ParseSecrets(text string) (Secrets, error) {
	var secrets Secrets
	for i, word := range strings.Fields(text) {
		encoded, ok := strings.CutPrefix(word, "whsec_")
		key, err := base64.StdEncoding.Strict().DecodeString(encoded)
		if !ok || err != nil || len(key) < minBytes || len(key) > maxBytes {
			return nil, hint.New(fmt.Sprintf("secret %d is not whsec_ and the base64 of %d to %d bytes", i+1, minBytes, maxBytes), "copy the whole secret of the endpoint")
		}
		webhook, err := standardwebhooks.NewWebhookRaw(key)
		if err != nil {
			return nil, err
		}
		secrets = append(secrets, func() *standardwebhooks.Webhook { return webhook })
	}
	if len(secrets) == 0 {
		return nil, hint.New("contains no secret", "write the endpoint's secret into it, which starts with whsec_")
	}
	return secrets, nil
}

// tolerance is how far a timestamp may be from the time of a Config, as the library has
// it for the present time.
const tolerance = 5 * time.Minute

// verify returns an error for people when no secret verifies a request. A nil now leaves
// the timestamp to the library.
func (s Secrets) verify(body []byte, header http.Header, now func() time.Time) (err error) {
	verify := (*standardwebhooks.Webhook).Verify
	if now != nil {
		verify = (*standardwebhooks.Webhook).VerifyIgnoringTimestamp
		if err := checkTimestamp(header, now()); err != nil {
			return explainError(err)
		}
	}
	for _, webhook := range s {
		if err = verify(webhook(), body, header); err == nil {
			return nil
		}
	}
	return explainError(err)
}

// checkTimestamp checks a timestamp by another clock than the system's. The library
// refuses a header that is not a number of seconds.
func checkTimestamp(header http.Header, now time.Time) error {
	seconds, err := strconv.ParseInt(header.Get(standardwebhooks.HeaderWebhookTimestamp), 10, 64)
	switch age := now.Sub(time.Unix(seconds, 0)); {
	case err == nil && age > tolerance:
		return standardwebhooks.ErrMessageTooOld
	case err == nil && age < -tolerance:
		return standardwebhooks.ErrMessageTooNew
	}
	return nil
}

// explainError explains an error of the library, and what to check.
func explainError(err error) error {
	switch {
	case errors.Is(err, standardwebhooks.ErrRequiredHeaders):
		return errors.New("webhook-id, webhook-timestamp or webhook-signature is missing")
	case errors.Is(err, standardwebhooks.ErrInvalidHeaders):
		return errors.New("webhook-timestamp is not a number of seconds")
	case errors.Is(err, standardwebhooks.ErrMessageTooOld):
		return errors.New("the timestamp is too old, by more than 5 minutes: was it sent again by hand, or is a clock wrong?")
	case errors.Is(err, standardwebhooks.ErrMessageTooNew):
		return errors.New("the timestamp is too new, by more than 5 minutes: is a clock wrong?")
	case errors.Is(err, standardwebhooks.ErrNoMatchingSignature):
		return errors.New("no signature matches: is it this endpoint's secret, and the body as it was sent?")
	}
	return err
}
