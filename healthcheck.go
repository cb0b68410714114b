package main

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
	"time"

	"github.com/spf13/cobra"

	"teamdata/admin/socket"
	"teamdata/server"
)

// healthQuestion says which server to ask.
type healthQuestion struct {
	data, socket, url, caFile string
	timeout                   time.Duration
}

func healthcheckCommand() *cobra.Command {
	var q healthQuestion
	cmd := &cobra.Command{
		Use:   "healthcheck",
		Short: "Ask a running server whether it is ready",
		Long: `Healthcheck asks the server whether it can do its work: over the admin socket of
the data file, or with --url from elsewhere. It prints one line, and ends with 0
when the server is ready, with 1 when it is not or doesn't answer. It takes the
flags and the environment of serve, and needs no shell: in a container it is the
health check as it is.`,
		Example: "  teamdata healthcheck\n  teamdata healthcheck --data /var/lib/teamdata/teamdata.db\n" +
			"  teamdata healthcheck --url https://127.0.0.1:8443 --ca-file teamdata.db.ca.pem",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), q.timeout)
			defer cancel()
			if err := q.ask(ctx); err != nil {
				return err
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "ready")
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&q.data, "data", defaultData, "the data `file` of the server")
	f.StringVar(&q.socket, "socket", "", "the admin `socket` of the server; default: the data file's path with .sock behind it")
	f.StringVar(&q.url, "url", "", "the `URL` of the server, to ask it there and not on the socket")
	f.StringVar(&q.caFile, "ca-file", "", "a PEM `file` with the CA of --url, to trust beside the system's")
	f.DurationVar(&q.timeout, "timeout", 5*time.Second, "how long the answer may take")
	return cmd
}

// ask returns an error, one line, unless the server is ready.
func (q *healthQuestion) ask(ctx context.Context) error {
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

func (q *healthQuestion) connect(ctx context.Context) (client *http.Client, base string, err error) {
	if q.url != "" {
		return q.connectURL()
	}
	path := socket.Path(q.socket, q.data)
	client, err = socket.Client(ctx, path)
	if err == nil && client == nil {
		err = fmt.Errorf("no server listens on %s; start it with teamdata serve, or name its socket with --socket", path)
	}
	return client, socket.Base, err
}

func (q *healthQuestion) connectURL() (*http.Client, string, error) {
	u, err := url.Parse(q.url)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		return nil, "", fmt.Errorf("--url %q is not the URL of a server, such as https://127.0.0.1:8443", q.url)
	}
	roots, err := rootsWith("--ca-file", q.caFile)
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
	return client, strings.TrimRight(q.url, "/"), nil
}
