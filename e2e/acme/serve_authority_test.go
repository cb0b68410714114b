package acme_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/pebble"
	"teamdata/e2e/kit/program"
)

// The program gets its certificate from an authority, in both ways, keeps it
// sealed, and asks for no other after a restart. Clients on this machine are
// served by its local CA.
func TestServeByACME(t *testing.T) {
	for _, way := range []string{"tls-alpn-01", "http-01"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			authority, folder := pebble.New(t), t.TempDir()
			ca, data := kit.NewFile(t, "acme.ca.pem", string(authority.CAPEM)), filepath.Join(folder, "teamdata.db")
			flags := []string{"--domain", program.Domain, "--acme-accept-terms", "--acme-directory", authority.Directory, "--acme-ca", ca,
				"--acme-email", "ops@acme.test", "--seal-key-file", kit.SealKey(t, folder), "--seed", program.Example}
			if way == "http-01" {
				flags = append(flags, "--acme-http", "127.0.0.1:0")
			}
			p := program.Serve(t, data, flags...)
			c := pebble.Config{TLSPort: p.Port(`"serving"`, `"url":"https://`)}
			if way == "http-01" {
				c = pebble.Config{HTTPPort: p.Port("over plain HTTP", `"address":"`)}
			}
			authority.Open(c)
			leaf := p.Shown(authority.Issued)
			if got := kit.Get(t, p.ByName(authority.Issued), "https://"+program.Domain+"/settings").Header.Get("Strict-Transport-Security"); got != "max-age=31536000" {
				t.Errorf("as to HTTPS it says %q", got)
			}
			if got := kit.Get(t, p.Client, p.URL+"/settings").Header.Get("Strict-Transport-Security"); got != "" {
				t.Errorf("as to HTTPS it tells a client on this machine %q", got)
			}
			if a := p.Must("GET", "/members", program.ReadKey); a.Status != http.StatusOK {
				t.Errorf("a client on this machine was answered %d", a.Status)
			}
			if c.HTTPPort > 0 {
				redirects(t, c.HTTPPort)
			}
			p.StopWell()
			if text, err := os.ReadFile(data); err != nil || bytes.Contains(text, []byte("PRIVATE KEY")) {
				t.Errorf("a key is in the clear in a sealed file: %v", err)
			}
			authority.Stop()
			p = program.Serve(t, data, flags...)
			if !p.Shown(authority.Issued).Equal(leaf) {
				t.Error("after a restart it is another certificate")
			}
		})
	}
}

// With the first of two authorities down the program gets its certificate from the
// second, and its status, doctor and metrics name that.
func TestServeBySecondAuthority(t *testing.T) {
	first, second := pebble.New(t), pebble.New(t)
	first.Stop()
	ca, data := kit.NewFile(t, "acme.ca.pem", string(second.CAPEM)), filepath.Join(t.TempDir(), "teamdata.db")
	t.Setenv("TEAMDATA_ACME_DIRECTORY", first.Directory+","+second.Directory)
	p := program.Serve(t, data, "--domain", program.Domain, "--acme-accept-terms", "--acme-ca", ca, "--metrics", "127.0.0.1:0")
	second.Open(pebble.Config{TLSPort: p.Port(`"serving"`, `"url":"https://`)})
	p.Shown(second.Issued)
	out, _ := program.Run(t, "status", "--json", "--data", data)
	if !strings.Contains(out, second.Directory) {
		t.Errorf("status says:\n%s", out)
	}
	out, _ = program.Run(t, "doctor", "--data", data)
	if !strings.Contains(out, "the certificate "+program.Domain+" is from "+second.Directory) {
		t.Errorf("doctor says:\n%s", out)
	}
	if name := "teamdata_certificate_info authority=" + second.Directory + " name=" + program.Domain; program.Scraped(t, http.DefaultClient, p.MetricsURL())[name] != 1 {
		t.Errorf("there is no metric %s", name)
	}
}

func redirects(t *testing.T, port int) {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), "GET", fmt.Sprintf("http://127.0.0.1:%d/api/v1/members", port), nil)
	kit.Must(t, err)
	q.Host = program.Domain
	r, err := http.DefaultTransport.RoundTrip(q)
	kit.Must(t, err)
	r.Body.Close()
	if location := r.Header.Get("Location"); r.StatusCode != http.StatusPermanentRedirect || location != "https://"+program.Domain+"/api/v1/members" {
		t.Errorf("plain HTTP is answered %d, %q", r.StatusCode, location)
	}
}
