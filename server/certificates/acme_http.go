package certificates

import (
	"net"
	"net/http"
	"net/url"
	"strings"
)

const challengePath = "/.well-known/acme-challenge/"

// Challenges answers, on the plain HTTP of the domains, what the authority asks
// there (http-01), and sends everybody else to the same path over HTTPS.
func (a *ACME) Challenges() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d := a.domain(hostname(r.Host))
		if !strings.HasPrefix(r.URL.Path, challengePath) {
			if d == nil {
				d = a.domains[0] // where a client is sent is never its own choice
			}
			to := url.URL{Scheme: "https", Host: d.name, Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: r.URL.RawQuery}
			http.Redirect(w, r, to.String(), http.StatusPermanentRedirect)
			return
		}
		if d == nil {
			http.NotFound(w, r)
			return
		}
		d.challenge(w, r)
	})
}

func (d *domain) challenge(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	answer := d.http
	d.mu.Unlock()
	if answer == nil {
		http.NotFound(w, r)
		return
	}
	// autocert compares the host with the domain as it is, port and case included.
	asked := *r
	asked.Host = d.name
	answer.ServeHTTP(w, &asked)
}

func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return host
}
