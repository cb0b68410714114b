package release

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	teamdata "teamdata/client"
	"teamdata/client/admin"
	"teamdata/delivery/receiver"
	"teamdata/e2e/kit"
	"teamdata/internal/localca"
)

// packageReceiver is somebody's receiver of webhooks, which is told the secret once the
// endpoint is there.
type packageReceiver struct {
	url    string
	secret atomic.Pointer[receiver.Receiver]
	mu     sync.Mutex
	came   map[string]bool // the users of the events that verified
}

func newPackageReceiver(t *testing.T, caFile string) *packageReceiver {
	t.Helper()
	r := &packageReceiver{came: map[string]bool{}}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if verifying := r.secret.Load(); verifying != nil {
			verifying.ServeHTTP(w, q)
			return
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	config, err := localca.Loopback(time.Now(), "receiver", caFile)
	kit.Must(t, err)
	kit.Must(t, os.Chmod(caFile, 0o644)) // a certificate is no secret
	server.TLS = config
	server.StartTLS()
	t.Cleanup(server.Close)
	r.url = server.URL + "/hook"
	return r
}

// verifyBy lets the receiver verify by a secret.
func (r *packageReceiver) verifyBy(t *testing.T, secret string) {
	t.Helper()
	secrets, err := receiver.ParseSecrets(secret)
	kit.Must(t, err)
	r.secret.Store(receiver.New(receiver.Config{Secrets: secrets, Print: func(e receiver.Event) {
		var event struct {
			Data struct {
				Member struct{ UserID string }
				UserID string
			}
		}
		json.Unmarshal(e.Body, &event)
		if e.Verdict != receiver.Verified {
			t.Errorf("an event does not verify: %s", e.Problem)
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.came[event.Data.UserID+event.Data.Member.UserID] = true
	}}))
}

func (r *packageReceiver) has(user string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.came[user]
}

var endpointSecret = regexp.MustCompile(`whsec_\S+`)

// firstEvent pastes the commands behind the install.
func (p *packaged) firstEvent(lines []string, r *packageReceiver) {
	p.t.Helper()
	for _, line := range lines {
		said := p.sh(strings.ReplaceAll(line, "https://example.com/hook", r.url))
		if secret := endpointSecret.FindString(said); secret != "" {
			r.verifyBy(p.t, secret)
		}
	}
	p.service.Await("the first event", func() bool { return r.has("usr_ada") })
}

// load is clients of the admin API that post all the time.
type load struct {
	url, key string
	ended    chan struct{}
	clients  sync.WaitGroup

	mu          sync.Mutex
	added       []string // the users that were answered 201
	failed      error    // an answer that there may not be
	refused     int      // connections, before a request was sent
	first, last time.Time
	longest     time.Duration // that a request took
}

// underLoad installs a version while clients post. For less than a second they are told to
// come again; connections are refused for as long, and only without a socket.
func (p *packaged) underLoad(r *packageReceiver, version string) {
	p.t.Helper()
	key := p.sh("sudo -u teamdata teamdata operator-token create --name load --quiet --data /var/lib/teamdata/teamdata.db 2>/dev/null")
	l := &load{url: p.address() + "/admin/v1/orgs/" + p.org() + "/members", key: strings.TrimSpace(key), ended: make(chan struct{})}
	for n := range 4 {
		client, err := teamdata.TrustCA(p.at("var/lib/teamdata/teamdata.db.ca.pem"))
		kit.Must(p.t, err)
		client.Timeout = 20 * time.Second
		l.clients.Go(func() { l.post(client, fmt.Sprintf("usr_%s_%d", strings.ReplaceAll(version, ".", "_"), n), n%2 == 0) })
	}
	p.service.Await("posts before", func() bool { return l.count(p.t) > 40 })
	p.install(version)
	before := l.count(p.t)
	p.service.Await("posts after", func() bool { return l.count(p.t) > before+40 })
	close(l.ended)
	l.clients.Wait()
	out := l.last.Sub(l.first)
	p.t.Logf("to %s: %d members added, %d connections refused, no service for %v, the longest request took %v", version, len(l.added), l.refused, out, l.longest)
	if out >= time.Second || p.socket != nil && l.refused > 0 {
		p.t.Errorf("during the upgrade there was no service for %v, %d connections refused", out, l.refused)
	}
	if said := p.sh("teamdata version"); !strings.Contains(said, version) {
		p.t.Errorf("installed is %s", said)
	}
	p.nothingLost(l, r)
	if running := p.status().Version; running != version {
		p.t.Errorf("running is %s", running)
	}
}

func (p *packaged) admin() *admin.Client {
	return admin.OverSocket(p.at("var/lib/teamdata/teamdata.db.sock"))
}

func (p *packaged) status() admin.Status {
	p.t.Helper()
	status, err := p.admin().ReadStatus(p.t.Context())
	kit.Must(p.t, err)
	return status
}

func (p *packaged) org() string {
	p.t.Helper()
	for org, err := range p.admin().ListOrgs().All(p.t.Context()) {
		kit.Must(p.t, err)
		return org.ID
	}
	p.t.Fatal("there is no org")
	return ""
}

// address is where the service listens.
func (p *packaged) address() string {
	if p.socket != nil {
		return "https://" + p.socket.Addr().String()
	}
	return "https://" + valueOf(p.t, directives(p.t, p.at(environmentFile), "="), "TEAMDATA_LISTEN")
}

// nothingLost checks that all that was acknowledged is there once, and was sent.
func (p *packaged) nothingLost(l *load, r *packageReceiver) {
	p.t.Helper()
	there := map[string]int{}
	for member, err := range p.admin().ListMembers(p.org()).All(p.t.Context()) {
		kit.Must(p.t, err)
		there[member.UserID]++
	}
	for _, user := range l.added {
		if there[user] != 1 {
			p.t.Errorf("%s is there %d times", user, there[user])
		}
		p.service.Await("the event of "+user, func() bool { return r.has(user) })
	}
}

// count is how many members were added. An answer that there may not be ends the test.
func (l *load) count(t *testing.T) int {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil {
		t.Fatalf("during an upgrade a client got: %v", l.failed)
	}
	return len(l.added)
}

// post adds one member after the other until the load ends, each until it is added. A
// connection is kept, or made for each request.
func (l *load) post(client *http.Client, prefix string, kept bool) {
	for n := 0; ; n++ {
		user := fmt.Sprintf("%s_%d", prefix, n)
		for !l.add(client, user, kept) {
			select {
			case <-l.ended: // or a server that stays away keeps the test here
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
		select {
		case <-l.ended:
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// add adds a member, and reports whether that is done.
func (l *load) add(client *http.Client, user string, kept bool) bool {
	q, err := http.NewRequest("POST", l.url, bytes.NewBufferString(fmt.Sprintf(`{"userId":%q,"role":"member"}`, user)))
	if err != nil {
		l.say(err)
		return false
	}
	q.Close = !kept
	q.Header.Set("Authorization", "Bearer "+l.key)
	q.Header.Set("Content-Type", "application/json")
	q.GetBody = nil // so that the client itself repeats nothing
	var sent atomic.Bool
	q = q.WithContext(httptrace.WithClientTrace(q.Context(), &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }}))
	began := time.Now()
	answer, err := client.Do(q)
	if err == nil {
		_, err = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.longest = max(l.longest, time.Since(began))
	switch {
	case err != nil && !sent.Load() && (errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET)):
		l.refused++ // it is reset if it waited for a server that then stopped to listen
	case err != nil:
		l.failed = err
		return false
	case answer.StatusCode == http.StatusCreated:
		l.added = append(l.added, user)
		return true
	case answer.StatusCode != http.StatusServiceUnavailable || answer.Header.Get("Retry-After") == "":
		l.failed = fmt.Errorf("%s was answered %s", user, answer.Status)
		return false
	}
	if l.first.IsZero() {
		l.first = began
	}
	l.last = time.Now()
	return false
}

func (l *load) say(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed = err
}
