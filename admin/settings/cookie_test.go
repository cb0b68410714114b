package settings

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"teamdata/store/storetest"
)

// Cookies are for HTTPS alone where the browser speaks it: to the listener, or to the proxy
// of the public URL. The demo has a listener of either kind.
func TestCookiesOfListeners(t *testing.T) {
	w := newEnv(t)
	w.withPassword("usr_ada")
	for _, tt := range []struct {
		public  string
		overTLS bool
		secure  bool
	}{
		{"http://localhost:8080", false, false},
		{"http://localhost:8080", true, true},
		{"https://data.example.com", false, true},
		{"https://data.example.com", true, true},
	} {
		handler := newSettings(storetest.Scoped(t, w.Store), Config{PublicURL: tt.public, Version: "1.2.3", Log: zerolog.Nop()})
		server := httptest.NewUnstartedServer(handler)
		if tt.overTLS {
			server.StartTLS()
		} else {
			server.Start()
		}
		defer server.Close()
		b := (&env{w.storeEnv, server}).newBrowser()
		r := b.signIn("usr_ada", goodPassword)
		if r.Status != 303 {
			t.Fatalf("%+v: %d %s", tt, r.Status, r.Body)
		}
		for _, cookie := range r.Header.Values("Set-Cookie") {
			if strings.HasPrefix(cookie, "__Host-") != tt.secure || strings.Contains(cookie, "; Secure") != tt.secure {
				t.Errorf("%+v: the cookie is %s", tt, cookie)
			}
		}
	}
}
