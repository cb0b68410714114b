package settings

import (
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/engines"
	"teamdata/store"
	"teamdata/store/boltstore"
	"teamdata/store/storetest"
)

// storeEnv is a real store.
type storeEnv = kit.Env[store.Engine]

// env is a settings page on a real store, behind a real TLS listener.
// org_acme has the owner usr_ada, the admin usr_alan and the member usr_grace;
// org_other has the owners usr_ada and usr_olga, and the endpoint whe_other.
type env struct {
	*storeEnv
	server *httptest.Server
}

func newEnv(t testing.TB) *env {
	t.Helper()
	w := &env{storeEnv: kit.NewEnv(t, engines.Opener(t, boltstore.Options{}), fill), server: httptest.NewUnstartedServer(nil)}
	w.server.Config.Handler = newSettings(storetest.Scoped(t, w.Store), Config{
		PublicURL: "https://" + w.server.Listener.Addr().String(), Version: "1.2.3", Log: zerolog.Nop(), Mailed: func() {},
	})
	w.server.StartTLS()
	t.Cleanup(w.server.Close)
	return w
}

func fill(tx store.Tx) error {
	for org, members := range map[string][]store.Member{
		"org_acme": {
			{UserID: "usr_ada", Role: store.RoleOwner, Name: "Ada", Email: "ada@acme.example"},
			{UserID: "usr_alan", Role: store.RoleAdmin, Name: "Alan", Email: "alan@acme.example"},
			{UserID: "usr_grace", Role: store.RoleMember, Name: "Grace"},
		},
		"org_other": {
			{UserID: "usr_ada", Role: store.RoleOwner}, {UserID: "usr_olga", Role: store.RoleOwner, Email: "olga@other.example"},
		},
	} {
		if _, err := store.ImportOrg(tx, store.Org{ID: org, Name: strings.TrimPrefix(org, "org_")}); err != nil {
			return err
		}
		for _, m := range members {
			m.OrgID = org
			if _, err := store.ImportMember(tx, m); err != nil {
				return err
			}
		}
	}
	_, err := store.CreateEndpoint(tx, "usr_olga", store.Endpoint{ID: "whe_other", OrgID: "org_other", URL: "https://other.example/hook", Events: []string{"member.added"}})
	return err
}

// browser is one person's, with its cookies. It follows no redirect by itself.
type browser struct {
	*env
	client *http.Client
}

// newBrowser is one that nobody is signed in with.
func (w *env) newBrowser() *browser {
	w.Helper()
	jar, err := cookiejar.New(nil)
	kit.Must(w, err)
	client := *w.server.Client()
	client.Jar = jar
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &browser{w, &client}
}

// signedIn is a browser with a session of a user who manages org_acme.
func (w *env) signedIn(userID string) *browser {
	w.Helper()
	b := w.newBrowser()
	w.Update(func(tx store.Tx) error {
		if _, _, err := store.CreateSignInLink(tx, "org_acme", userID, time.Hour); err != nil {
			return err
		}
		_, cookie, err := store.CreateSession(tx, userID, "test")
		at, _ := url.Parse(w.server.URL)
		b.client.Jar.SetCookies(at, []*http.Cookie{{Name: "__Host-teamdata", Value: cookie, Path: "/", Secure: true}})
		return err
	})
	return b
}

// reply is what a browser got.
type reply struct{ kit.Answer }

// location is where a redirect leads.
func (r reply) location() string { return r.Header.Get("Location") }

// get asks for a page below Path.
func (b *browser) get(path string) reply {
	b.Helper()
	return b.do(http.MethodGet, path, nil)
}

// post sends a form to a path below Path, as a page of ours does.
func (b *browser) post(path string, form url.Values) reply {
	b.Helper()
	return b.do(http.MethodPost, path, form)
}

func (b *browser) do(method, path string, form url.Values) reply {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), method, b.server.URL+Path+path, strings.NewReader(form.Encode()))
	kit.Must(b, err)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", b.server.URL)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	return reply{kit.Fetch(b, b.client, r)}
}

// wants holds a reply to a status and to texts that its body has.
func (r reply) wants(t testing.TB, status int, texts ...string) {
	t.Helper()
	if r.Status != status {
		t.Fatalf("got %d, want %d: %.2000s", r.Status, status, r.Body)
	}
	for _, text := range texts {
		if !strings.Contains(r.Body, text) {
			t.Errorf("the page lacks %q: %.4000s", text, r.Body)
		}
	}
}
