// Package teamdatatest runs teamdata inside a Go test: the real server on a temporary
// file and a free port of the loopback address, with a clock that the test moves, a
// receiver that verifies its webhooks, and a mailbox. It stops with the test.
//
//	srv := teamdatatest.Start(t, teamdatatest.Org("org_acme", teamdatatest.Endpoint("whe_1")))
//	srv.Admin("POST", "/orgs/org_acme/members", `{"userId":"usr_bob","role":"member"}`)
//	event := srv.Receiver().Next(t.Context())
//
// The clock stands still: nothing is retried, dropped or expired until the test calls
// [Server.Advance], and then everything is, in its order and without waiting.
//
// The package is for the tests of other modules. It imports app, and may import what
// app does. The data that a server starts with belongs to seed.go, the webhooks that it
// sends to receiver.go, and those that are pulled to pull.go.
package teamdatatest

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"teamdata/admin/socket"
	"teamdata/app"
	"teamdata/e2e/kit/postbox"
	"teamdata/internal/httpclient"
	"teamdata/store"
)

// AdminURL is the base URL of the admin API for [Server.AdminClient].
const AdminURL = socket.Base + "/admin/v1"

// limit is how long a call may take that waits for the server, in real time.
const limit = time.Minute

// Server is a running server. Its methods fail the test if anything goes wrong, so
// they are to be called from the test's goroutine, except for Client, Key and Now.
type Server struct {
	URL    string // such as https://127.0.0.1:43211
	CAFile string // holds the certificate to trust

	t        testing.TB
	folder   string
	settings app.Settings
	seed     seed
	app      *app.App
	stop     func() // the server; it returns once that has stopped
	receiver *Receiver
	mailbox  *postbox.Postbox
	public   *http.Transport // trusts the server
	admin    *http.Transport // connects to its admin socket
}

// Option changes how a server starts.
type Option func(*Server)

// Start starts a server, which is stopped at the end of the test and leaves nothing
// behind. Without options it has no org. Tests that start one may run in parallel.
func Start(t testing.TB, options ...Option) *Server {
	t.Helper()
	folder, err := os.MkdirTemp("", "teamdatatest-") // its path is shorter than t.TempDir's: there is a socket in it
	must(t, err)
	s := &Server{t: t, folder: folder, settings: app.Defaults()}
	t.Cleanup(s.close)
	s.receiver = startReceiver(t, s)
	s.mailbox, err = postbox.Open(postbox.Config{})
	must(t, err)
	s.settings.Data, s.settings.Listen = filepath.Join(folder, "teamdata.db"), "127.0.0.1:0"
	s.settings.KeyRate, s.settings.PullRate, s.settings.ClientRate, s.settings.MaxConnsPerClient = 0, 0, 0, 0
	s.settings.AllowEndpointCIDR = []string{"127.0.0.0/8", "::1/128"}
	s.settings.WebhookCA = filepath.Join(folder, "webhooks.ca.pem")
	s.settings.SMTPURL, s.settings.MailFrom = s.mailbox.URL, "teamdata@example.com"
	s.settings.Clock = app.NewStandingClock(time.Now())
	for _, o := range options {
		o(s)
	}
	must(t, s.settings.Check())
	must(t, os.WriteFile(s.settings.WebhookCA, s.receiver.trusted, 0o600))
	s.serve()
	return s
}

// serve starts the server, serves and fills it.
func (s *Server) serve() {
	s.t.Helper()
	var err error
	s.app, err = app.Start(context.Background(), s.settings, zerolog.New(zerolog.NewTestWriter(s.t)).Level(zerolog.ErrorLevel))
	must(s.t, err)
	s.URL, s.CAFile = s.app.URL(), s.app.CAFile()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.app.Run(ctx) }()
	s.stop = func() {
		cancel()
		if err := <-ended; err != nil {
			s.t.Errorf("teamdata: %v", err)
		}
	}
	must(s.t, s.seed.fill(s.app.Store()))
	roots, err := httpclient.Roots("the server's CA", s.CAFile)
	must(s.t, err)
	s.public = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
	s.admin = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return socket.Dial(ctx, socket.Path(s.settings.Socket, s.settings.Data))
	}}
}

func (s *Server) close() {
	for _, transport := range []*http.Transport{s.public, s.admin} {
		if transport != nil {
			transport.CloseIdleConnections()
		}
	}
	if s.stop != nil {
		s.stop()
	}
	if s.receiver != nil {
		s.receiver.close()
	}
	if s.mailbox != nil {
		s.mailbox.Close()
	}
	if err := os.RemoveAll(s.folder); err != nil {
		s.t.Error(err)
	}
}

// ClockRuns makes the server's clock go on with the system's. Advance moves it ahead.
func ClockRuns() Option {
	return func(s *Server) { s.settings.Clock = new(app.TestClock) }
}

// ClockAt makes the server's clock stand still at a time other than that of the
// start.
func ClockAt(at time.Time) Option {
	return func(s *Server) { s.settings.Clock = app.NewStandingClock(at) }
}

// Settings lets a function change the settings of serve, such as the rate limits.
// By default the server has none.
func Settings(change func(*app.Settings)) Option {
	return func(s *Server) { change(&s.settings) }
}

// Now returns the time by the server's clock.
func (s *Server) Now() time.Time { return s.settings.Clock.Now() }

// Advance moves the server's clock forward, from each due time to the next, and
// returns once all that became due has been done: attempts and their retries, mail,
// and the retention of data follow one another as if the time had passed. Advance(0)
// waits until all that is due now has been done. It takes real time only for receivers
// that don't answer.
func (s *Server) Advance(d time.Duration) {
	s.t.Helper()
	s.within(func(ctx context.Context) error { return s.app.Advance(ctx, d) })
}

// within calls a function that may wait for receivers.
func (s *Server) within(do func(context.Context) error) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	err := do(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		s.t.Fatalf("not everything was sent within %s: a receiver may not answer; shorten its AttemptTimeout with Settings", limit)
	}
	must(s.t, err)
}

// Reset puts the data back to its state at the start, and forgets the received
// events. The URL, the keys, the certificate and the clock stay as they are, and
// rate limits keep counting.
func (s *Server) Reset() {
	s.t.Helper()
	s.within(s.app.Reset)
	s.receiver.reset()
	s.mailbox.Empty()
	must(s.t, s.seed.fill(s.app.Store()))
}

// Client returns a client that trusts the server and sends a key, such as one that
// Key returns, with each request. With "" it sends none.
func (s *Server) Client(key string) *http.Client {
	return &http.Client{Transport: bearer{key, s.public}, Timeout: limit}
}

// AdminClient returns a client of the admin API, whose URLs begin with [AdminURL]. It
// needs no key.
func (s *Server) AdminClient() *http.Client {
	return &http.Client{Transport: s.admin, Timeout: limit}
}

// Admin makes a request of the admin API, such as POST /orgs/org_acme/members with a
// body of JSON, and returns the body of the answer. The test fails unless the status
// is 2xx.
func (s *Server) Admin(method, path, body string) []byte {
	s.t.Helper()
	q, err := http.NewRequest(method, AdminURL+path, strings.NewReader(body))
	must(s.t, err)
	answer, err := s.AdminClient().Do(q)
	must(s.t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	must(s.t, err)
	if answer.StatusCode/100 != 2 {
		s.t.Fatalf("%s %s is answered with %s\n%s", method, path, answer.Status, text)
	}
	return text
}

// Deliveries returns an org's deliveries to an endpoint, oldest first, each with its
// state and its attempts as they are now.
func (s *Server) Deliveries(orgID, endpointID string) (all []store.Delivery) {
	s.t.Helper()
	must(s.t, s.app.Store().View(context.Background(), func(tx store.Tx) error {
		e, err := tx.Endpoint(orgID, endpointID)
		all = nil
		for _, list := range []store.DeliveryList{store.ListAcknowledged, store.ListWaiting, store.ListLeased, store.ListFailed} {
			var page []store.Delivery
			var errPage error
			page, _, errPage = tx.DeliveryPage(e.Number, list, store.Cursor{}, maxDeliveries)
			err = errors.Join(err, errPage)
			all = append(all, page...)
		}
		for i := range all {
			all[i].State = all[i].StateAt(&e)
		}
		return err
	}))
	slices.SortFunc(all, func(a, b store.Delivery) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// maxDeliveries is how many deliveries of a list are returned.
const maxDeliveries = 10_000

// Mail is a mail that the server sent.
type Mail struct {
	To      string // the recipient's address
	Subject string
	Text    string // its plain text
}

// Mails returns all mail that the server has sent, in order.
func (s *Server) Mails() (mails []Mail) {
	for _, m := range s.mailbox.Mails() {
		mails = append(mails, Mail(m))
	}
	return mails
}

// bearer adds a key to requests.
type bearer struct {
	key string
	*http.Transport
}

func (b bearer) RoundTrip(q *http.Request) (*http.Response, error) {
	if b.key != "" && q.Header.Get("Authorization") == "" {
		q = q.Clone(q.Context())
		q.Header.Set("Authorization", "Bearer "+b.key)
	}
	return b.Transport.RoundTrip(q)
}

func must(t testing.TB, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}
