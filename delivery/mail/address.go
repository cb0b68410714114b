package mail

import (
	"errors"
	"fmt"
	netmail "net/mail"
	"strings"
	"unicode"
	"unicode/utf8"

	"teamdata/internal/canonical"
	"teamdata/store"
)

// maxName is in characters. It keeps any encoding of a name within the 998 bytes of
// a line.
const maxName = 80

// parseSender reads "alerts@example.com" or "Teamdata <alerts@example.com>".
func parseSender(text string) (*netmail.Address, error) {
	from, err := netmail.ParseAddress(text)
	if err != nil || !store.ValidAddress(from.Address) {
		return nil, fmt.Errorf("mail sender %q is not an address: write it like Teamdata <alerts@example.com>", text)
	}
	if from.Address, err = canonical.Address(from.Address); err != nil || !isASCII(from.Address) {
		return nil, fmt.Errorf("mail sender %q has a non-ASCII address, which not every server accepts", text)
	}
	from.Name = personName(from.Name)
	return from, nil
}

// recipient returns the address and name of m's recipient.
func recipient(m Message) (*netmail.Address, error) {
	address, err := canonical.Address(m.To)
	if err != nil || !store.ValidAddress(m.To) {
		return nil, fmt.Errorf("%q is not a mail address", short(store.MaxAddressLength, m.To))
	}
	return &netmail.Address{Name: personName(m.Name), Address: address}, nil
}

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf })
}

// personName makes text a display name. A backslash becomes a slash: among
// letters beyond ASCII, net/mail writes it in a form that can't be parsed back.
func personName(text string) string {
	return short(maxName, inHeader(strings.ReplaceAll(text, `\`, "/")))
}

// inHeader makes text safe in a header that is shown to people. A mail program would
// decode an encoded-word ("=?utf-8?q?…?=") in it, so the text must not look like
// one.
func inHeader(text string) string {
	return strings.ReplaceAll(oneLine(text), "=?", "= ?")
}

// oneLine makes text fit in one line: without control characters, and with single
// spaces. Marks of direction are removed too, since they could reverse the words
// beside them.
func oneLine(text string) string {
	plain := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r):
			return ' '
		case unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, text)
	return strings.Join(strings.Fields(plain), " ")
}

// short cuts text to no more than n characters.
func short(n int, text string) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	return string(runes[:n-1]) + "…"
}

// checkID allows only what may precede the @ of a Message-ID.
func checkID(id string) error {
	if id == "" || len(id) > 128 || strings.Trim(id, ".") != id || strings.Contains(id, "..") || strings.ContainsFunc(id, notInName) {
		return errors.New("a mail's ID must be 1 to 128 letters, digits, or _-. between them")
	}
	return nil
}
