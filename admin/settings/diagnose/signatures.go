package diagnose

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"
)

const signatureLength = 44 // of the base64 of an HMAC-SHA256

// checkSignature looks at the form. One signature of the right form is enough: a
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

var hexForm = regexp.MustCompile(`^[0-9A-Fa-f]{64}$`)

// wrongForm says what is wrong with a header of which no part has the right form.
func wrongForm(value string) string {
	text, found := strings.CutPrefix(value, "v1,")
	switch {
	case strings.HasPrefix(value, "v1a,"):
		return "“v1a,” is an asymmetric signature. Ours are symmetric: “v1,” and a base64."
	case strings.Contains(text, "v1,") || strings.ContainsAny(text, ",;\t"):
		return "Signatures are separated by one space, and each begins with “v1,”. This header uses another separator."
	case !found:
		return "The signature does not begin with “v1,”."
	case strings.HasPrefix(text, " "):
		return "There is a space after “v1,”."
	case hexForm.MatchString(text):
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

// has tells whether a signature is among those that were given.
func (m message) has(signature string) (found bool) {
	for _, given := range m.given {
		found = hmac.Equal([]byte(given), []byte(signature)) || found
	}
	return found
}
