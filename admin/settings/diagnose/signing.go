package diagnose

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// mistake is a way to sign that is not the standard's.
type mistake struct {
	text string
	key  func(secret string) []byte
	what func(m message, body []byte) []string // joined by periods
}

// mistakes are those that programs make that sign by themselves, to compare.
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

// otherSigning looks for a mistake of whoever made the signature.
func (c Case) otherSigning(m message) string {
	for _, s := range c.Signers {
		for _, how := range mistakes {
			sum := sumOf(how.key(s.Secret), how.what(m, c.Body))
			if m.has(base64.StdEncoding.EncodeToString(sum)) {
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
