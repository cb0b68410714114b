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
	"teamdata/server"
)

// Question asks a running server whether it is ready: at its URL if there is one,
// else on the admin socket of the data file.
type Question struct {
	Data, Socket string
	URL, CAFile  string
}

// Ask returns an error, one line, unless the server is ready.
func (q *Question) Ask(ctx context.Context) error {
	client, base, err := q.connect(ctx)
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+server.ReadyPath, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return unanswered(err)
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(response.Body, 4<<10))
	return judge(response.StatusCode, body)
}

func unanswered(err error) error {
	var whole *url.Error
	if errors.As(err, &whole) {
		err = whole.Err // it repeats the method and the URL
	}
	var unknown x509.UnknownAuthorityError
	if errors.As(err, &unknown) {
		return fmt.Errorf("the server's certificate is of a CA that is not trusted here (%w); name the CA's file with --ca-file", err)
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
	return fmt.Errorf("answered %d; is it a teamdata server?", status)
}

func (q *Question) connect(ctx context.Context) (client *http.Client, base string, err error) {
	if q.URL != "" {
		return q.connectURL()
	}
	path := socket.Path(q.Socket, q.Data)
	client, err = socket.Client(ctx, path)
	if err == nil && client == nil {
		err = fmt.Errorf("no server listens on %s; start it with teamdata serve, or name its socket with --socket", path)
	}
	return client, socket.Base, err
}

func (q *Question) connectURL() (*http.Client, string, error) {
	u, err := url.Parse(q.URL)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		return nil, "", fmt.Errorf("--url %q is not the URL of a server, such as https://127.0.0.1:8443", q.URL)
	}
	roots, err := app.Roots("--ca-file", q.CAFile)
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
	return client, strings.TrimRight(q.URL, "/"), nil
}
