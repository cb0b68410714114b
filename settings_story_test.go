package main

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/webauthn"

	"teamdata/delivery/receiver"
)

const (
	storySeed = `{"orgs":[{"id":"org_acme","name":"Acme","members":[{"userId":"usr_ada","role":"owner","name":"Ada Okafor","email":"ada@acme.example"}]}]}`

	storySecret   = "whsec_dGVhbWRhdGEtZXhhbXBsZS1zZWNyZXQtMzItYnl0ZXM="
	storyPassword = "correct horse battery staple"
)

// hook is a receiver of the story, behind TLS. It can be told to answer 503, and
// it holds each answer until it may be given.
type hook struct {
	*httptest.Server
	ill  atomic.Bool
	gate chan struct{} // closed: nothing is held
}

func newHook(t *testing.T) *hook {
	secrets, err := receiver.ParseSecrets(storySecret)
	if err != nil {
		t.Fatal(err)
	}
	h := &hook{gate: make(chan struct{})}
	well := receiver.New(receiver.Config{Secrets: secrets})
	h.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		<-h.gate
		if h.ill.Load() {
			http.Error(w, "no such table: <events>", http.StatusServiceUnavailable)
			return
		}
		well.ServeHTTP(w, q)
	}))
	t.Cleanup(h.Close)
	return h
}

// The story of a team's first day in a browser: from the first link to an endpoint
// that failed and recovered, and a key that was used and revoked. Without
// JavaScript it is the same, but for looking again.
func TestSettingsStory(t *testing.T) {
	for _, scripts := range []bool{true, false} {
		name := map[bool]string{true: "scripts", false: "no scripts"}[scripts]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHook(t)
			b := openStory(t, "--retry-schedule", "250ms,250ms", "--allow-endpoint-cidr", "127.0.0.1/32", "--webhook-ca", h.caFile(t))
			if !scripts {
				b.noScripts()
			}
			b.signInFirst()
			b.addEndpoint(h)
			b.watchTest(h, scripts)
			b.breakAndRecover(h, scripts)
			b.useAndRevokeKey()
			b.follow("Sign out")
			b.sees("You are signed out.")
		})
	}
}

func (h *hook) caFile(t *testing.T) string {
	file := filepath.Join(t.TempDir(), "ca.pem")
	writeFile(t, file, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.Certificate().Raw})))
	return file
}

// openStory opens a browser at a server with a new data file.
func openStory(t *testing.T, flags ...string) *tab {
	t.Helper()
	seed := filepath.Join(t.TempDir(), "seed.json")
	writeFile(t, seed, storySeed)
	data := filepath.Join(t.TempDir(), "teamdata.db")
	p, base := serveSettings(t, data, append(flags, "--seed", seed)...)
	return openTab(t, p, base, data)
}

// signInFirst is the way in from the link that the operator makes.
func (b *tab) signInFirst() {
	b.t.Helper()
	link, err := exec.Command(binary, "signin-link", "usr_ada", "--data", b.data).Output()
	if err != nil {
		b.t.Fatal(err)
	}
	b.open(strings.TrimPrefix(strings.TrimSpace(string(link)), b.base))
	b.fill("New password", storyPassword)
	b.fill("New password, once more", storyPassword)
	b.follow("Set the password and sign in")
	b.sees("Your password is set, and you are signed in.")
}

func (b *tab) addEndpoint(h *hook) {
	b.t.Helper()
	b.follow("teamdata")
	b.follow("Webhooks")
	b.follow("Add an endpoint")
	b.fill("URL", h.URL+"/hook")
	b.click("member.added")
	b.fill("Secret of your own", storySecret)
	b.follow("Add the endpoint")
	b.sees("The endpoint was added.")
}

// watchTest sends a test, and sees it arrive on the page that is there already.
func (b *tab) watchTest(h *hook, live bool) {
	b.t.Helper()
	b.follow("Send a test")
	b.sees("pending")
	came := b.document()
	close(h.gate)
	b.awaitState("acknowledged", live)
	if live && b.document() != came {
		b.t.Error("the page was loaded again")
	}
}

// awaitState waits until the delivery's page shows a state.
func (b *tab) awaitState(state string, live bool) {
	b.t.Helper()
	b.await("the state "+state, func() bool {
		if strings.Contains(b.text(), state) {
			return true
		}
		if !live {
			b.follow("Look again")
		}
		return false
	})
}

// breakAndRecover makes the receiver fail until its endpoint is disabled, and mends
// both.
func (b *tab) breakAndRecover(h *hook, live bool) {
	b.t.Helper()
	h.ill.Store(true)
	b.follow(h.URL + "/hook")
	b.follow("Send a test")
	b.awaitState("failed", live)
	delivery := b.path()
	if got := strings.Count(b.text(), "no such table: <events>"); got != 3 {
		b.t.Errorf("%d of 3 attempts show the answer:\n%s", got, b.text())
	}
	b.follow(h.URL + "/hook")
	b.sees("This endpoint is disabled.")
	h.ill.Store(false)
	b.follow("Enable")
	b.sees("The endpoint is enabled.")
	b.follow("Recover")
	b.click("the last hour")
	b.follow("Recover")
	b.await("the recovered delivery", func() bool {
		b.open(delivery)
		return strings.Contains(b.text(), "acknowledged: 204")
	})
}

// useAndRevokeKey makes a key, asks the API with it, and revokes it.
func (b *tab) useAndRevokeKey() {
	b.t.Helper()
	b.follow("API keys")
	b.follow("Create a key")
	b.fill("Name", "nightly export")
	b.follow("Create the key")
	key, _ := evaluate[string](b, `() => document.querySelector("[data-copy]").textContent`)
	if a := b.must("GET", "/members", key); a.status != 200 || !strings.Contains(a.body, "usr_ada") {
		b.t.Errorf("with the key the API answered %d %s", a.status, a.body)
	}
	b.follow("I have copied it")
	b.follow("Revoke…")
	b.follow("Revoke the key")
	b.sees("The key was revoked.")
	if a := b.must("GET", "/members", key); a.status != 401 {
		b.t.Errorf("with the revoked key the API answered %d %s", a.status, a.body)
	}
}

// A passkey is added, and opens the page without a name and a password.
func TestSettingsPasskey(t *testing.T) {
	t.Parallel()
	b := openStory(t)
	send(b, webauthn.Enable, webauthn.EnableParams{})
	send(b, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
		Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal,
		HasResidentKey: true, HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
	}})
	b.signInFirst()
	b.fill("Name of the new passkey", "Laptop")
	b.follow("Add a passkey")
	b.sees("The passkey was added.")
	b.follow("Sign out")
	b.open("/settings/sign-in")
	b.follow("Sign in with a passkey")
	b.follow("usr_ada")
	b.sees("Laptop")
}
