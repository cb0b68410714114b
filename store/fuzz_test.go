package store

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// contractCursor is the pattern of after and next, word for word.
var contractCursor = regexp.MustCompile(`^\d{1,15}\.[\s\S]+$`)

// FuzzCursor holds ParseCursor to the contract's pattern, and a cursor to being
// the same position after it went to a client and came back.
func FuzzCursor(f *testing.F) {
	f.Fuzz(func(t *testing.T, text string) {
		c, ok := ParseCursor(text)
		if want := contractCursor.MatchString(text) && utf8.ValidString(text); ok != want {
			t.Fatalf("%q: taken %v, want %v", text, ok, want)
		}
		if !ok {
			return
		}
		var echoed string
		if err := json.Unmarshal(AppendJSONString(nil, c.String()), &echoed); err != nil {
			t.Fatal(err)
		}
		if again, ok := ParseCursor(echoed); !ok || again != c || again.Compare(c) != 0 || c.IsZero() {
			t.Errorf("%q is %+v, then %+v", text, c, again)
		}
		if digits, id, _ := strings.Cut(text, "."); id != c.ID || strings.TrimLeft(digits, "0") != strings.TrimLeft(strconv.FormatUint(c.Ms, 10), "0") {
			t.Errorf("%q is %+v", text, c)
		}
	})
}

// FuzzCursorOrder holds the order of cursors to that of their times, then ids.
func FuzzCursorOrder(f *testing.F) {
	f.Fuzz(func(t *testing.T, a, b uint64, idA, idB string) {
		c, d := Cursor{a, idA}, Cursor{b, idB}
		before := a < b || a == b && idA < idB
		if (c.Compare(d) < 0) != before || (d.Compare(c) > 0) != before || (c.Compare(d) == 0) != (c == d) {
			t.Errorf("%+v to %+v: %d, and back %d", c, d, c.Compare(d), d.Compare(c))
		}
	})
}

// FuzzEndpointURL holds what endpointURL makes of an address to what can be sent: a request
// over HTTPS to the host that is written there, with no credentials and no part
// that a server does not see. Over HTTP only this machine is one, and only where that
// is allowed.
func FuzzEndpointURL(f *testing.F) {
	f.Add("http://[::fffF:127.0.0.1]/")
	f.Fuzz(func(t *testing.T, typed string) {
		address, err := endpointURL(typed, true)
		_, errHTTPS := endpointURL(typed, false)
		if err != nil {
			if errHTTPS == nil {
				t.Errorf("%q passes only without http:// on loopback", typed)
			}
			return
		}
		if again, err := endpointURL(address, true); err != nil || again != address {
			t.Errorf("%q is %q, and that is %q: %v", typed, address, again, err)
		}
		r, err := http.NewRequest("POST", address, http.NoBody)
		if err != nil {
			t.Fatalf("%q passed: %v", address, err)
		}
		ip, _ := netip.ParseAddr(r.URL.Hostname())
		loopback := ip.Unmap().IsLoopback() || strings.EqualFold(r.URL.Hostname(), "localhost")
		switch overHTTPS := errHTTPS == nil; {
		case overHTTPS != (r.URL.Scheme == "https"):
			t.Errorf("%q: passed without http:// on loopback: %t", address, overHTTPS)
		case !overHTTPS && (r.URL.Scheme != "http" || !loopback):
			t.Errorf("%q passed over plain HTTP", address)
		}
		if r.URL.User != nil || r.Header.Get("Authorization") != "" || strings.ContainsAny(address, "#\r\n\x00") || len(address) > 2048 {
			t.Errorf("%q passed as %v", address, r.URL)
		}
		host := r.URL.Hostname()
		if host == "" || strings.ContainsAny(host, "/?#@% \t\"'();<>") {
			t.Errorf("%q passed with the host %q", address, host)
		}
		if port, err := strconv.Atoi(r.URL.Port()); r.URL.Port() != "" && (err != nil || port < 1 || port > 65535) {
			t.Errorf("%q passed with the port %s", address, r.URL.Port())
		}
		_, rest, _ := strings.Cut(address, "://")
		if authority, _, _ := strings.Cut(rest, "/"); strings.Contains(strings.SplitN(authority, "?", 2)[0], "@") {
			t.Errorf("%q passed with a user", address)
		}
		if i := strings.IndexFunc(address, func(r rune) bool { return r <= ' ' || r > '~' }); i >= 0 {
			t.Errorf("%q is stored as %q", typed, address)
		}
		var sent strings.Builder
		if err := r.Write(&sent); err != nil {
			t.Errorf("%q passed and can't be sent: %v", address, err)
		}
		if !strings.Contains(sent.String(), "\r\nHost: "+r.URL.Host+"\r\n") {
			t.Errorf("%q goes to another host by its header than by TLS:\n%s", address, sent.String())
		}
	})
}

// FuzzIdempotencyKeyForm holds the key's form to the contract: 1 to 255 printable
// ASCII characters.
func FuzzIdempotencyKeyForm(f *testing.F) {
	form := regexp.MustCompile(`^[ -~]{1,255}$`)
	f.Fuzz(func(t *testing.T, key string) {
		if got, want := ValidIdempotencyKey(key), form.MatchString(key); got != want {
			t.Errorf("%q: %v, want %v", key, got, want)
		}
	})
}

// FuzzKey holds a key's two parts to what was cut, and the form of our own secrets
// to their checksum.
func FuzzKey(f *testing.F) {
	f.Fuzz(func(t *testing.T, key string) {
		id, secret, ok := CutKey(key)
		if ok && (id+"."+secret != key || !ValidID(id) || strings.Contains(id, ".") || secret == "") {
			t.Errorf("%q became %q and %q", key, id, secret)
		}
		if ValidSecret(key) && (len(key) != 49 || ValidSecret(flipped(key))) {
			t.Errorf("%q has a valid checksum, also with another last digit", key)
		}
	})
}

// flipped is a text with another last character.
func flipped(text string) string {
	last := byte('0')
	if strings.HasSuffix(text, "0") {
		last = '1'
	}
	return text[:len(text)-1] + string(last)
}

// ValidSecret reports whether a text has the form and the checksum of a secret
// that NewSecret made. Secrets from a fixture may be of any form.
func ValidSecret(secret string) bool {
	if len(secret) != secretDigits+checkDigits {
		return false
	}
	return string(checkOf([]byte(secret[:secretDigits]))) == secret[secretDigits:]
}
