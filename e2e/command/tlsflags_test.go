package command

import (
	"path/filepath"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

func TestCertificateFlags(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text.pem")
	kit.WriteFile(t, text, "text")
	taken := kit.Loopback(t)
	acme := func(more ...string) []string {
		return append([]string{"--domain", program.Domain, "--acme-accept-terms"}, more...)
	}
	serveRefuses(t, exitUsage, map[string]refusal{
		"certificate alone":  {[]string{"--tls-cert", text}, "--tls-cert needs --tls-key"},
		"key alone":          {[]string{"--tls-key", text}, "--tls-key needs --tls-cert"},
		"certificate, HTTP":  {[]string{"--tls-cert", text, "--tls-key", text, "--http"}, "--tls-cert is for HTTPS"},
		"no certificate":     {[]string{"--tls-cert", text, "--tls-key", text}, "--tls-cert: certificate file .*text.pem with key file .* give PEM files"},
		"domain, HTTP":       {acme("--http"), "--domain gets a certificate for HTTPS"},
		"two certificates":   {acme("--tls-cert", text, "--tls-key", text), "--tls-cert and --domain are two certificates"},
		"domain in the demo": {acme("--demo"), "--demo brings its own certificate"},
		"no domain":          {[]string{"--acme-email", "ops@acme.test"}, "--acme-email needs --domain"},
		"bad domain":         {acme("--domain", "localhost"), `--domain: "localhost" is not a domain`},
		"star":               {acme("--domain", "b.test,*.acme.test"), `--domain: "\*.acme.test" is not a domain`},
		"terms":              {[]string{"--domain", program.Domain}, "--domain needs --acme-accept-terms.* https://letsencrypt.org/repository/"},
		"other terms":        {[]string{"--domain", program.Domain, "--acme-directory", "https://ca.test/dir"}, "needs --acme-accept-terms.*https://ca.test/dir has as termsOfService"},
		"bad directory":      {acme("--acme-directory", "http://ca.test/dir"), "--acme-directory .* is not an https:// URL"},
		"bad second":         {acme("--acme-directory", "https://ca.test/dir,http://b.test/dir"), "--acme-directory \"http://b.test/dir\" is not an https:// URL"},
		"no host":            {acme("--acme-directory", "https:///dir"), "--acme-directory .* is not an https:// URL"},
		"same twice":         {acme("--acme-directory", "https://ca.test/dir", "--acme-directory", "https://ca.test/dir"), "--acme-directory has https://ca.test/dir twice.*another authority"},
		"three authorities":  {acme("--acme-directory", "https://a.test/dir,https://b.test/dir,https://c.test/dir"), "--acme-directory names 3 authorities.*one, or two"},
		"terms of both":      {[]string{"--domain", program.Domain, "--acme-directory", "https://acme-v02.api.letsencrypt.org/directory,https://ca.test/dir"}, "letsencrypt.org/repository/ and the address that https://ca.test/dir has"},
		"second, no domain":  {[]string{"--acme-directory", "https://ca.test/dir"}, "--acme-directory needs --domain"},
		"bad ACME address":   {acme("--acme-http", "80"), `--acme-http "80" is not host:port`},
		"no ACME CA":         {acme("--acme-ca", "nowhere.pem"), "--acme-ca: open nowhere.pem"},
	}, leftNothing)
	serveRefuses(t, exitFailed, map[string]refusal{
		"taken ACME address": {acme("--acme-http", taken.Addr().String()), "--acme-http: can't listen on .*address already in use.*choose another"},
	})
}
