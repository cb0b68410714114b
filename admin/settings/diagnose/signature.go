package diagnose

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
)

const signatureLength = 44 // of the base64 of an HMAC-SHA256

// checkSignature checks the form. One signature of the right form is enough: a
// receiver passes over the others.
func checkSignature(value string) (string, bool) {
	n := len(wellFormed(value))
	switch all := len(strings.Split(value, " ")); {
	case n == 0:
		return wrongForm(value), false
	case n < all:
		return fmt.Sprintf("%d of %d signatures have the right form; the others are ignored.", n, all), true
	case n == 1:
		return "There is one signature, and it has the right form.", true
	}
	return fmt.Sprintf("There are %d signatures, as there are while a secret is rotated, and they have the right form.", n), true
}

// wellFormed are the signatures that a receiver compares, without their "v1,".
func wellFormed(value string) (found []string) {
	for part := range strings.SplitSeq(value, " ") {
		text, ok := strings.CutPrefix(part, "v1,")
		if sum, err := base64.StdEncoding.Strict().DecodeString(text); ok && err == nil && len(sum) == sha256.Size && len(text) == signatureLength {
			found = append(found, text)
		}
	}
	return found
}

// wrongForm describes what is wrong with a header that has no well-formed part.
func wrongForm(value string) string {
	text, found := strings.CutPrefix(value, "v1,")
	sum, err := hex.DecodeString(text)
	switch {
	case strings.HasPrefix(value, "v1a,"):
		return "“v1a,” is an asymmetric signature. Ours are symmetric: “v1,” and a base64."
	case strings.Contains(text, "v1,") || strings.ContainsAny(text, ",;\t"):
		return "Signatures are separated by one space, and each begins with “v1,”. This header uses another separator."
	case !found:
		return "The signature does not begin with “v1,”."
	case strings.HasPrefix(text, " "):
		return "There is a space after “v1,”."
	case err == nil && len(sum) == sha256.Size:
		return "The signature is in hex. It must be in base64."
	}
	return wrongBase64(text)
}

func wrongBase64(text string) string {
	if strings.ContainsAny(text, "-_") {
		return "The signature is in URL-safe base64, with - and _. It must be in standard base64, with + and /."
	}
	sum, err := base64.StdEncoding.Strict().DecodeString(text)
	if err == nil {
		return fmt.Sprintf("The signature decodes to %d bytes; an HMAC-SHA256 has %d. Was it cut short?", len(sum), sha256.Size)
	}
	if len(text) == signatureLength-1 && !strings.HasSuffix(text, "=") {
		return "The base64 of the signature is missing the = at its end."
	}
	return "The signature is not in standard, padded base64. Was it cut short?"
}

// hasSignature reports whether a signature is among the given ones.
func (m message) hasSignature(signature string) (found bool) {
	for _, given := range m.given {
		found = hmac.Equal([]byte(given), []byte(signature)) || found
	}
	return found
}

// mistake is a way to sign that is not the standard's.
type mistake struct {
	text string
	key  func(secret string) []byte
	what func(m message, body []byte) []string // joined by periods
}

// mistakes are common mistakes of programs that compute the signature themselves.
var mistakes = []mistake{
	{"The key was used without decoding its base64.", encodedKey, signed},
	{"The whole secret was used as the key, including whsec_. The key is the decoded base64 after it.", wholeSecret, signed},
	{"The body was signed without the webhook-id and the webhook-timestamp before it.", decodedKey, func(m message, body []byte) []string { return []string{string(body)} }},
	{"The body was signed without the webhook-id before it.", decodedKey, func(m message, body []byte) []string { return []string{m.timestamp, string(body)} }},
	{"The body was signed without the webhook-timestamp before it.", decodedKey, func(m message, body []byte) []string { return []string{m.id, string(body)} }},
	{"The webhook-timestamp was put before the webhook-id. What is signed is the id, the timestamp, and the body.", decodedKey, func(m message, body []byte) []string { return []string{m.timestamp, m.id, string(body)} }},
}

func encodedKey(secret string) []byte { return []byte(strings.TrimPrefix(secret, "whsec_")) }

func wholeSecret(secret string) []byte { return []byte(secret) }

func decodedKey(secret string) []byte {
	key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_")) // checked when it was made
	return key
}

func signed(m message, body []byte) []string { return []string{m.id, m.timestamp, string(body)} }

// otherSigning finds a mistake in how the signature was made.
func (c Case) otherSigning(m message) string {
	for _, s := range c.Signers {
		for _, how := range mistakes {
			sum := sumOf(how.key(s.Secret), how.what(m, c.Body))
			if m.hasSignature(base64.StdEncoding.EncodeToString(sum)) {
				return how.text
			}
		}
	}
	return ""
}

func sumOf(key []byte, parts []string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(strings.Join(parts, ".")))
	return mac.Sum(nil)
}
