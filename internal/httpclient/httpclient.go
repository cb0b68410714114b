// Package httpclient makes the HTTP clients of commands that talk to a remote
// server, and explains in one line why none answered. Requests belong to the
// command; code belongs here if it applies to every server.
//
// Of ours it imports internal/hint and internal/smallfile alone.
package httpclient

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"teamdata/internal/hint"
	"teamdata/internal/smallfile"
)

// New is a client that goes through the proxy of the environment, trusts roots (nil
// means the system's), and follows no redirect. End its use with
// CloseIdleConnections.
func New(roots *x509.CertPool) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy:           http.ProxyFromEnvironment,
			TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
			DialContext:     (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
			MaxIdleConns:    1, IdleConnTimeout: time.Minute, TLSHandshakeTimeout: 10 * time.Second,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Roots are the CAs that certificates may come from: the system's, and
// those of the flag's file. nil means just the system's.
func Roots(flag, file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	pem, err := smallfile.Read(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s %s contains no PEM certificate", flag, file)
	}
	return roots, nil
}

// ServerURL is the URL of a server, which a flag gives, without a slash at its end.
func ServerURL(flag, text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, fmt.Errorf("%s %q is not the URL of a server, such as https://data.example.com", flag, text)
	}
	u.Path = strings.TrimRight(u.Path, "/")
	return u, nil
}

// Cause is why a request failed, without the method and the URL, which are known.
func Cause(err error) error {
	if whole, ok := errors.AsType[*url.Error](err); ok {
		return whole.Err
	}
	return err
}

// Unanswered explains a request to a server that got no answer.
func Unanswered(err error) error {
	err = Cause(err)
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return hint.With(fmt.Errorf("the server's certificate was issued by a CA that is not trusted here (%w)", err), "name the CA's file with --ca-file")
	}
	return fmt.Errorf("no answer from the server: %w", err)
}
