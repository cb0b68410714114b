package signin

import (
	"net/url"
	"testing"
	"time"

	"github.com/go-webauthn/webauthn/webauthn"

	"teamdata/e2e/kit"
)

// Browsers have passkeys for names over HTTPS, and for localhost.
func TestWherePasskeysAre(t *testing.T) {
	for address, want := range map[string]bool{
		"https://data.example.com": true, "https://data.example.com:8443": true, "http://localhost:8080": true, "https://localhost": true,
		"https://127.0.0.1:8443": false, "https://[::1]:8443": false, "http://data.example.com": false, "": false, "https://": false,
	} {
		u, err := url.Parse(address)
		kit.Must(t, err)
		if got := newPasskeys(u) != nil; got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
}

// Every algorithm that is offered has its kind of key, and no other.
func TestKindsAreOffered(t *testing.T) {
	offered := webauthn.CredentialParametersDefault()
	for _, p := range offered {
		if kinds[p.Algorithm] == 0 {
			t.Errorf("%d has no kind", p.Algorithm)
		}
	}
	if len(offered) != len(kinds) {
		t.Errorf("%d are offered, %d have a kind", len(offered), len(kinds))
	}
}

// Figures that tests of the pages don't reach.
func TestFigures(t *testing.T) {
	if maxTracked != 20_000 {
		t.Errorf("%d names and clients are counted, not 20,000", maxTracked)
	}
	if backgroundTimeout != 30*time.Second {
		t.Errorf("what is done after an answer may take %s, not 30s", backgroundTimeout)
	}
}
