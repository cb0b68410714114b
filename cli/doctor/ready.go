package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"teamdata/admin/socket"
	"teamdata/app"
	"teamdata/internal/hint"
	"teamdata/server"
)

// Probe asks a running server whether it is ready: at its URL if there is one, else
// on the admin socket of the data file.
type Probe struct {
	Data, Socket string
	URL, CAFile  string
}

// Ready returns an error, one line, unless the server is ready.
func (p *Probe) Ready(ctx context.Context) error {
	client, base, err := p.connect(ctx)
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	r, body, err := get(ctx, client, base+server.ReadyPath)
	if err != nil {
		return unanswered(err)
	}
	return judge(r.StatusCode, body[:min(len(body), 4<<10)])
}

// get asks for a URL. An error is without the method and the URL, which our line has
// already.
func get(ctx context.Context, client *http.Client, address string) (r *http.Response, body []byte, err error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err == nil {
		r, err = client.Do(q)
	}
	if whole, ok := errors.AsType[*url.Error](err); ok {
		err = whole.Err
	}
	if err != nil {
		return nil, nil, err
	}
	defer r.Body.Close()
	body, _ = io.ReadAll(io.LimitReader(r.Body, 1<<20)) // where it breaks off shows in what it says
	return r, body, nil
}

func unanswered(err error) error {
	var unknown x509.UnknownAuthorityError
	if errors.As(err, &unknown) {
		return hint.With(fmt.Errorf("the server's certificate is of a CA that is not trusted here (%w)", err), "name the CA's file with --ca-file")
	}
	return fmt.Errorf("the server does not answer: %w", err)
}

func judge(status int, body []byte) error {
	lines := strings.Join(strings.FieldsFunc(string(body), func(r rune) bool { return r < ' ' || r == 0x7f }), "; ")
	switch status {
	case http.StatusOK:
		return nil
	case http.StatusServiceUnavailable:
		return fmt.Errorf("the server is not ready: %s", lines)
	}
	return hint.With(fmt.Errorf("answered %d", status), "is it a teamdata server?")
}

func (p *Probe) connect(ctx context.Context) (client *http.Client, base string, err error) {
	if p.URL != "" {
		return p.connectURL()
	}
	path := socket.Path(p.Socket, p.Data)
	client, err = socket.Client(ctx, path)
	if err == nil && client == nil {
		err = hint.With(fmt.Errorf("no server listens on %s", path), "start it with teamdata serve, or name its socket with --socket")
	}
	return client, socket.Base, err
}

func (p *Probe) connectURL() (*http.Client, string, error) {
	u, err := url.Parse(p.URL)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		return nil, "", fmt.Errorf("--url %q is not the URL of a server, such as https://127.0.0.1:8443", p.URL)
	}
	roots, err := app.Roots("--ca-file", p.CAFile)
	if err != nil {
		return nil, "", err
	}
	client := &http.Client{
		Transport: &http.Transport{
			Proxy:           http.ProxyFromEnvironment,
			TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return client, strings.TrimRight(p.URL, "/"), nil
}
