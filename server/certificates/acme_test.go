package certificates

import (
	"crypto/x509"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

const domainOfTests = "data.acme.test"

// A call is repeated at once with another nonce, later when the authority is down,
// and not after too many calls or when the authority asks for a long pause. A moment
// to wait for counts from the answer's own.
func TestBackoff(t *testing.T) {
	const date = "Sun, 22 Nov 2026 12:00:00 GMT"
	for _, test := range []struct {
		n, status  int
		retryAfter string
		want       time.Duration
	}{
		{1, 400, "", time.Millisecond}, {30, 400, "", time.Millisecond}, {31, 400, "", 0},
		{1, 503, "", time.Second}, {2, 500, "", 2 * time.Second}, {20, 503, "", 8 * time.Second}, {31, 503, "", 0}, {1, 429, "", 0},
		{1, 503, "5", 5 * time.Second}, {5, 503, "5", 8 * time.Second}, {1, 503, "9", 0}, {1, 429, "1", 0}, {1, 503, "-1", time.Second},
		{1, 503, "99999999999", 0}, {1, 503, "soon", time.Second}, {1, 503, "Sun, 22 Nov 2026 12:00:06 GMT", 6 * time.Second},
		{1, 503, date, time.Second}, {1, 503, "Sun, 22 Nov 2026 11:00:00 GMT", time.Second}, {1, 503, "Sun, 22 Nov 2027 11:00:00 GMT", 0},
	} {
		header := http.Header{"Date": {date}, "Retry-After": {test.retryAfter}}
		if got := backoff(test.n, nil, &http.Response{StatusCode: test.status, Header: header}); got != test.want {
			t.Errorf("failure %d, status %d, Retry-After %q: %v", test.n, test.status, test.retryAfter, got)
		}
	}
}

func TestProblemIn(t *testing.T) {
	for _, test := range []struct {
		status     int
		body, want string
	}{
		{200, `{"status":"valid","type":"http-01"}`, ""},
		{200, "-----BEGIN CERTIFICATE-----", ""},
		{200, "", ""},
		{200, `{"challenges":[{"type":"http-01"},{"type":"tls-alpn-01","error":{"type":"urn:x:connection","detail":"no way"}}]}`, "challenge tls-alpn-01: no way (urn:x:connection)"},
		{200, `{"status":"invalid","error":{"type":"urn:x:caa","detail":"not us"}}`, "order: not us (urn:x:caa)"},
		{400, `{"type":"urn:ietf:params:acme:error:badNonce","detail":"stale","status":400}`, ""},
		{429, `{"type":"urn:x:rateLimited","detail":"too many","status":429}`, "answered 429: too many (urn:x:rateLimited)"},
		{502, "<html>", "answered 502 Bad Gateway"},
		{404, `{}`, "answered 404 Not Found"},
		{500, `{"type":"x","detail":"` + strings.Repeat("a", 600) + `"}`, "answered 500: " + strings.Repeat("a", 500) + " (x)"},
	} {
		got := ""
		if err := problemIn(test.status, []byte(test.body)); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%d %s: %q", test.status, test.body, got)
		}
	}
}

// A certificate is renewed when a third of its life is left, but not more than 30
// days before its end.
func TestRenewBefore(t *testing.T) {
	for life, want := range map[time.Duration]time.Duration{
		6 * day: 2 * day, 90 * day: 30 * day, 93 * day: 30 * day, 397 * day: 30 * day,
	} {
		if got := renewBefore(life); got != want {
			t.Errorf("of %s the last %s, not %s", life, got, want)
		}
	}
}

// Let's Encrypt refuses a domain for an hour after five failures within one.
func TestFirstRetries(t *testing.T) {
	var at time.Duration
	failures := []time.Duration{0}
	for _, pause := range append(firstRetries, firstRetries[len(firstRetries)-1]) {
		at += pause
		failures = append(failures, at)
	}
	for i := 5; i < len(failures); i++ {
		if within := failures[i] - failures[i-5]; within < time.Hour {
			t.Errorf("six attempts within %s", within)
		}
	}
	if last := firstRetries[len(firstRetries)-1]; last != time.Hour {
		t.Errorf("in the end there is an attempt each %s", last)
	}
}

// Every request but a challenge is redirected to HTTPS, at one of our domains.
func TestPlainHTTP(t *testing.T) {
	t.Parallel()
	a, err := NewACME(t.Context(), newEnv(t).Store, ACMEConfig{Domains: []string{domainOfTests}, Directories: []string{"https://acme.test/dir"}, HTTP01: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		method, host, target string
		status               int
		location             string
	}{
		{"GET", domainOfTests, "/api/v1/members?limit=2", 308, "https://" + domainOfTests + "/api/v1/members?limit=2"},
		{"POST", strings.ToUpper(domainOfTests) + ":8080", "/a%2Fb", 308, "https://" + domainOfTests + "/a%2Fb"},
		{"GET", "evil.example", "/x", 308, "https://" + domainOfTests + "/x"},
		{"GET", domainOfTests, "//evil.example/x", 308, "https://" + domainOfTests + "//evil.example/x"},
		{"GET", domainOfTests, challengePath + "token", 404, ""},
		{"GET", "evil.example", challengePath + "token", 404, ""},
	} {
		q := httptest.NewRequest(test.method, "http://x"+test.target, nil)
		q.Host = test.host
		w := httptest.NewRecorder()
		a.Challenges().ServeHTTP(w, q)
		if location := w.Header().Get("Location"); w.Code != test.status || location != test.location {
			t.Errorf("%s %s at %s: %d, %q", test.method, test.target, test.host, w.Code, location)
		}
	}
}

// An authority whose directory leads away from HTTPS is not followed there.
func TestDirectoryLeadsToPlainHTTP(t *testing.T) {
	plain := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) { t.Errorf("%s was asked for over plain HTTP", q.URL) }))
	defer plain.Close()
	directory := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"newNonce":"%[1]s/nonce","newAccount":"%[1]s/account","newOrder":"%[1]s/order"}`, plain.URL)
	}))
	defer directory.Close()
	roots := x509.NewCertPool()
	roots.AddCert(directory.Certificate())
	a, err := NewACME(t.Context(), newEnv(t).Store, ACMEConfig{Domains: []string{domainOfTests}, Directories: []string{directory.URL}, RootCAs: roots})
	if err != nil {
		t.Fatal(err)
	}
	tried := a.domains[0].tried
	a.Refresh(t.Context())
	<-tried
	if last := a.Status()[0].LastError; !strings.Contains(last, plain.URL+"/nonce is not an https:// URL") {
		t.Errorf("the last error is %q", last)
	}
}

func TestCheckDomain(t *testing.T) {
	for name, good := range map[string]bool{
		"data.acme.example": true, "a.b": true, "xn--bcher-kva.example": true, "1.acme.example": true,
		strings.Repeat("a", 63) + ".example": true,

		"": false, "localhost": false, "Data.acme.example": false, "data.acme.example.": false, "data..example": false,
		"*.acme.example": false, "data.acme.example:443": false, "127.0.0.1": false, "::1": false, "bücher.example": false,
		"a_b.example": false, "-a.example": false, "a-.example": false, " a.example": false, "https://a.example": false,
		strings.Repeat("a", 64) + ".example": false, strings.Repeat("a.", 126) + "example": false,
	} {
		if err := CheckDomain(name); (err == nil) != good {
			t.Errorf("%q: %v", name, err)
		}
	}
}
