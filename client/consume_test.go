package teamdata_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	teamdata "teamdata/client"
	"teamdata/e2e/kit"
	"teamdata/store"
	"teamdata/teamdatatest"
)

// consumed is a server with an endpoint to pull from, and what a consumer made of its events.
type consumed struct {
	*testing.T
	*teamdatatest.Server
	front *front
	mu    sync.Mutex
	users []string // of the events that were handled, in order
	ids   []string
}

func toConsume(t *testing.T, options ...teamdatatest.Option) *consumed {
	t.Parallel()
	s := &consumed{T: t, Server: teamdatatest.Start(t, append(options, teamdatatest.Org("org_acme", teamdatatest.PullEndpoint("whe_1", "member.added"), teamdatatest.Key("key_1", "receive")))...)}
	s.front = newFront(t, s.Server)
	return s
}

// add adds members, whose events are pulled.
func (s *consumed) add(users ...string) {
	s.T.Helper()
	for some := range slices.Chunk(users, 100) {
		var members []string
		for _, user := range some {
			members = append(members, fmt.Sprintf(`{"userId":%q,"role":"member"}`, user))
		}
		s.Admin("POST", "/orgs/org_acme/members/batch", `{"members":[`+strings.Join(members, ",")+`]}`)
	}
}

// take is a handler that remembers.
func (s *consumed) take(_ context.Context, e teamdata.Event) error {
	var added teamdata.MemberAdded
	if err := e.Decode(&added); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users, s.ids = append(s.users, added.Data.UserID), append(s.ids, e.ID)
	return nil
}

func (s *consumed) taken() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.users)
}

// running is a consumer that runs. Each method waits until it has ended, and returns how.
type running struct{ stop, ended func() error }

// run runs a consumer, with take for a handler unless it has another one.
func (s *consumed) run(c teamdata.Consumer) running { return s.runIn(s.T.Context(), c) }

// runIn runs a consumer in a context.
func (s *consumed) runIn(ctx context.Context, c teamdata.Consumer) running {
	s.T.Helper()
	var secret struct{ Secret string }
	kit.Must(s.T, json.Unmarshal(s.Admin("GET", "/orgs/org_acme/endpoints/whe_1/secret", ""), &secret))
	if c.Verifier == nil {
		verifier, err := teamdata.NewVerifier(secret.Secret)
		kit.Must(s.T, err)
		verifier.Now = s.Now
		c.Verifier = verifier
	}
	if c.Handle == nil {
		c.Handle = s.take
	}
	c.Endpoint = "whe_1"
	client := teamdata.New(teamdata.Config{BaseURL: s.front.url, Key: s.Key("key_1")})
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- client.Consume(ctx, c) }()
	wait := sync.OnceValue(func() error { return <-ended })
	stop := func() error {
		cancel()
		return wait()
	}
	s.T.Cleanup(func() { stop() })
	return running{stop, wait}
}

// until waits for something that the consumer does.
func (s *consumed) until(what string, done func() bool) {
	s.T.Helper()
	if !kit.Until(20*time.Second, done) {
		s.T.Fatalf("%s did not come; handled were %q, and the deliveries are %+v", what, s.taken(), s.Deliveries("org_acme", "whe_1"))
	}
}

// states counts the deliveries in each state.
func (s *consumed) states() map[string]int {
	s.T.Helper()
	states := map[string]int{}
	for _, d := range s.Deliveries("org_acme", "whe_1") {
		states[d.State.String()]++
	}
	return states
}

func (s *consumed) acknowledged(n int) func() bool {
	return func() bool { return s.states()["acknowledged"] == n }
}

func users(n int) (users []string) {
	for i := range n {
		users = append(users, fmt.Sprintf("usr_%04d", i))
	}
	return users
}

// One consumer handles events in the order of their commits, each once, and acknowledges them
// all, those of the last round too.
func TestConsumeInOrder(t *testing.T) {
	s := toConsume(t)
	want := users(250)
	s.add(want[:200]...)
	consumer := s.run(teamdata.Consumer{})
	s.until("the first", func() bool { return len(s.taken()) >= 150 })
	s.add(want[200:]...)
	s.until("the last acknowledgment", s.acknowledged(250))
	if err := consumer.stop(); err != nil || !slices.Equal(s.taken(), want) {
		t.Errorf("it ended with %v after %q", err, s.taken())
	}
}

// As many are handled at once as was asked for, and no more.
func TestConsumeInParallel(t *testing.T) {
	s := toConsume(t)
	s.add(users(30)...)
	begun, goOn := make(chan bool, 30), make(chan bool)
	consumer := s.run(teamdata.Consumer{Parallel: 7, Limit: 10, Handle: func(ctx context.Context, e teamdata.Event) error {
		begun <- true
		<-goOn
		return s.take(ctx, e)
	}})
	for range 7 {
		<-begun
	}
	goOn <- true
	<-begun
	if n := len(begun); n > 0 {
		t.Errorf("%d more are handled", n)
	}
	close(goOn)
	s.until("the last acknowledgment", s.acknowledged(30))
	if err := consumer.stop(); err != nil {
		t.Error(err)
	}
}

// What a handler refuses is given back with its reason, comes again by the schedule, and does
// not keep others from coming.
func TestConsumeRefuses(t *testing.T) {
	s := toConsume(t)
	s.add("usr_error", "usr_fine", "usr_panic", "usr_exit")
	var mu sync.Mutex
	refusals, first := map[string]error{}, map[string]bool{}
	s.run(teamdata.Consumer{
		Handle: func(ctx context.Context, e teamdata.Event) error {
			mu.Lock()
			again := first[e.ID]
			first[e.ID] = true
			mu.Unlock()
			switch body := string(e.Body); {
			case again:
			case strings.Contains(body, "usr_error"):
				return errors.New("the\ndatabase is \xffaway" + strings.Repeat(" é", 200))
			case strings.Contains(body, "usr_panic"):
				panic("boom")
			case strings.Contains(body, "usr_exit"):
				runtime.Goexit()
			}
			return s.take(ctx, e)
		},
		Refused: func(e teamdata.Event, err error) {
			var added teamdata.MemberAdded
			if err := e.Decode(&added); err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			refusals[added.Data.UserID] = err
		},
	})
	s.until("that three are given back", func() bool { return s.states()["retrying"] == 3 })
	s.until("that one is acknowledged", s.acknowledged(1))
	reasons := []string{}
	for _, d := range s.Deliveries("org_acme", "whe_1") {
		if d.State == store.StateRetrying {
			reasons = append(reasons, d.LastAttempt().Reason)
		}
	}
	want := []string{"the database is \uFFFDaway" + strings.Repeat(" é", 139)[:277] + "…", "the handler panicked: boom", "the handler ended its goroutine"}
	if want[0] = reasons[0]; !slices.Equal(reasons, want) || len([]rune(reasons[0])) != 300 || !strings.HasPrefix(reasons[0], "the database is \uFFFDaway é") || !strings.HasSuffix(reasons[0], "…") {
		t.Errorf("the reasons are %q", reasons)
	}
	mu.Lock()
	panicked, ok := errors.AsType[*teamdata.HandlerPanic](refusals["usr_panic"])
	if !ok || panicked.Value != "boom" || !strings.Contains(string(panicked.Stack), "TestConsumeRefuses") || len(refusals) != 3 {
		t.Errorf("refused were %v", refusals)
	}
	mu.Unlock()
	s.Advance(time.Minute)
	s.until("what was refused", s.acknowledged(4))
	if got, want := s.taken(), []string{"usr_fine", "usr_error", "usr_panic", "usr_exit"}; !slices.Equal(got, want) {
		t.Errorf("it handled %q, not %q", got, want)
	}
}

// What was given back and comes again before the consumer has heard so is handled.
func TestConsumeGivenBackLate(t *testing.T) {
	s := toConsume(t)
	s.front.nacked = make(chan struct{})
	answer := sync.OnceFunc(func() { close(s.front.nacked) })
	t.Cleanup(answer) // also if it fails
	s.add("usr_error")
	again := false
	s.run(teamdata.Consumer{Handle: func(ctx context.Context, e teamdata.Event) error {
		if !again {
			again = true
			return errors.New("not yet")
		}
		return s.take(ctx, e)
	}})
	s.until("that it is given back", func() bool { return s.states()["retrying"] == 1 })
	s.Advance(time.Minute)
	s.until("what was given back", s.acknowledged(1))
	answer()
}

// What does not verify is given back, and no handler sees it.
func TestConsumeVerifies(t *testing.T) {
	s := toConsume(t)
	s.add("usr_a")
	refused := make(chan error, 1)
	v := verifier(t, s.Now(), other)
	s.run(teamdata.Consumer{Verifier: v, Refused: func(e teamdata.Event, err error) {
		if e.ID == "" || e.Header.Get("webhook-id") != e.ID || !strings.Contains(string(e.Body), "usr_a") || e.Data != nil {
			t.Errorf("refused was %+v", e)
		}
		refused <- err
	}})
	if err := <-refused; !errors.Is(err, teamdata.ErrNotVerified) {
		t.Errorf("it was refused with %v", err)
	}
	s.until("that it is given back", func() bool { return s.states()["retrying"] == 1 })
	if got := s.taken(); len(got) > 0 {
		t.Errorf("handled was %q", got)
	}
}

// A lease lasts for as long as its event is handled or waits for that, and whoever waits is
// signed anew.
func TestConsumeExtendsLeases(t *testing.T) {
	s := toConsume(t)
	s.add("usr_0", "usr_a", "usr_b")
	goOn, signed := make(chan bool), make(chan string, 2)
	s.run(teamdata.Consumer{Lease: 5 * time.Second, Handle: func(ctx context.Context, e teamdata.Event) error {
		if strings.Contains(string(e.Body), "usr_0") {
			return nil // so that the next pull has two
		}
		<-goOn
		signed <- e.Header.Get("webhook-timestamp")
		return s.take(ctx, e)
	}})
	leased := func() time.Time {
		last := s.Deliveries("org_acme", "whe_1")[2] // that waits for the one before
		return last.Lease().EndsAt
	}
	s.until("the lease", func() bool { return !leased().IsZero() })
	for range 2 { // longer than a lease
		s.Advance(4 * time.Second)
		before := leased()
		s.until("that it is extended", func() bool { return leased().After(before) })
	}
	close(goOn)
	s.until("the acknowledgments", s.acknowledged(3))
	if got := s.taken(); !slices.Equal(got, []string{"usr_a", "usr_b"}) {
		t.Errorf("handled were %q", got)
	}
	if a, b := <-signed, <-signed; a >= b {
		t.Errorf("what was handled was signed at %s, and what waited meanwhile at %s", a, b)
	}
	for _, d := range s.Deliveries("org_acme", "whe_1") {
		if len(d.History) != 1 {
			t.Errorf("%s has the history %+v", d.ID, d.History)
		}
	}
}

// A consumer that stops finishes what it handles, and leaves the rest to others soon.
func TestConsumeStops(t *testing.T) {
	s := toConsume(t)
	s.add(users(40)...)
	begun, goOn := make(chan context.Context, 20), make(chan bool)
	consumer := s.run(teamdata.Consumer{Parallel: 2, Handle: func(ctx context.Context, e teamdata.Event) error {
		if !strings.Contains(string(e.Body), "usr_000") { // ten make pulls large
			begun <- ctx
			<-goOn
		}
		return s.take(ctx, e)
	}})
	handling := <-begun
	<-begun
	s.until("ten acknowledgments", s.acknowledged(10))
	held := s.states()["leased"]
	ended := make(chan error)
	go func() { ended <- consumer.stop() }()
	s.until("that the rest is given up", func() bool {
		soon := 0
		for _, d := range s.Deliveries("org_acme", "whe_1") {
			if d.State == store.StateLeased && d.Lease().EndsAt.Equal(d.Lease().GrantedAt.Add(5*time.Second)) {
				soon++
			}
		}
		return soon == held-2
	})
	if handling.Err() != nil || held < 4 {
		t.Errorf("it held %d, and told the handlers %v", held, handling.Err())
	}
	close(goOn)
	if err := <-ended; err != nil || !s.acknowledged(12)() {
		t.Errorf("it ended with %v, and %v", err, s.states())
	}
	s.Advance(5 * time.Second)
	if rest := s.Pull("org_acme", "whe_1"); len(rest) != 28 {
		t.Errorf("%d come again", len(rest))
	}
}

// While handlers are slow, a pull has no more than are handled at once.
func TestConsumeLeavesTheRest(t *testing.T) {
	s := toConsume(t)
	s.add(users(20)...)
	begun, goOn := make(chan bool, 20), make(chan bool)
	s.run(teamdata.Consumer{Parallel: 3, Handle: func(ctx context.Context, e teamdata.Event) error {
		begun <- true
		<-goOn
		return s.take(ctx, e)
	}})
	for range 3 {
		<-begun
	}
	if rest := s.Pull("org_acme", "whe_1"); len(rest) != 17 {
		t.Errorf("another consumer gets %d", len(rest))
	}
	close(goOn)
	s.until("the acknowledgments", s.acknowledged(20))
}

// A handler may end its consumer: nothing is handled after that.
func TestConsumeStopsByItsHandler(t *testing.T) {
	s := toConsume(t)
	s.add(users(300)...)
	for n := 30; n <= 300; n += 30 {
		ctx, cancel := context.WithCancel(t.Context())
		consumer := s.runIn(ctx, teamdata.Consumer{Handle: func(ctx context.Context, e teamdata.Event) error {
			if err := s.take(ctx, e); err != nil || len(s.taken()) < n {
				return err
			}
			cancel()
			return nil
		}})
		if err := consumer.ended(); err != nil || len(s.taken()) != n {
			t.Fatalf("it ended with %v, and %d of %d were handled", err, len(s.taken()), n)
		}
		s.Advance(5 * time.Second) // and the rest comes again
	}
}

// Handlers that take longer than the grace are told to end.
func TestConsumeGrace(t *testing.T) {
	s := toConsume(t)
	s.add("usr_a")
	begun := make(chan bool)
	consumer := s.run(teamdata.Consumer{Grace: time.Millisecond, Handle: func(ctx context.Context, e teamdata.Event) error {
		close(begun)
		<-ctx.Done()
		return ctx.Err()
	}})
	<-begun
	if err := consumer.stop(); err != nil {
		t.Error(err)
	}
	if d := s.Deliveries("org_acme", "whe_1")[0]; d.State != store.StateRetrying || d.LastAttempt().Reason != "context canceled" {
		t.Errorf("it is %s, %+v", d.State, d.LastAttempt())
	}
}

// It ends with the reason when the key is revoked.
func TestConsumeRevokedKey(t *testing.T) {
	s := toConsume(t)
	s.add("usr_a")
	consumer := s.run(teamdata.Consumer{})
	s.until("the first", s.acknowledged(1))
	s.Admin("POST", "/orgs/org_acme/keys/key_1/revoke", "")
	s.add("usr_b") // ends the wait
	if err := consumer.ended(); codeOf(err) != teamdata.CodeUnauthorized {
		t.Errorf("it ended with %v", err)
	}
}

// Whatever happens to requests and answers, each event is handled, and again only if an answer
// was lost; a server that asks for patience gets it.
func TestConsumeFaults(t *testing.T) {
	s := toConsume(t)
	want := users(60)
	for at, fault := range []string{"cut", "lost", "unavailable", "", "lost", "limited", "", "half"} {
		s.front.next(fault)
		s.add(want[at*5 : at*5+5]...)
	}
	s.add(want[40:]...)
	consumer := s.run(teamdata.Consumer{Limit: 10, Lease: 5 * time.Second})
	s.until("all", func() bool {
		if len(s.front.left()) > 0 || len(s.taken()) < len(want) {
			s.Advance(time.Second) // leases of answers that were lost
		}
		return s.acknowledged(len(want))()
	})
	if err := consumer.stop(); err != nil {
		t.Error(err)
	}
	got := s.taken()
	if slices.Sort(got); !slices.Equal(slices.Compact(got), want) {
		t.Errorf("handled were %q", got)
	}
	ended := map[string]int{}
	for _, d := range s.Deliveries("org_acme", "whe_1") {
		for _, a := range d.History {
			if a.TimedOut {
				ended[d.ID]++
			}
		}
	}
	seen := map[string]int{}
	for _, id := range s.ids {
		if seen[id]++; seen[id] > 1+ended[id] {
			t.Errorf("%s was handled %d times, and %d leases ended", id, seen[id], ended[id])
		}
	}
	if len(ended) == 0 {
		t.Error("no answer was lost")
	}
}

// A consumer waits for an endpoint that was disabled, and still acknowledges; one that begins
// with it ends.
func TestConsumeDisabled(t *testing.T) {
	s := toConsume(t)
	s.add("usr_a")
	begun, goOn := make(chan bool, 1), make(chan bool)
	s.run(teamdata.Consumer{Parallel: 2, Handle: func(ctx context.Context, e teamdata.Event) error {
		begun <- true
		<-goOn
		return s.take(ctx, e)
	}})
	<-begun
	s.Admin("POST", "/orgs/org_acme/endpoints/whe_1/disable", "")
	close(goOn)
	s.until("the acknowledgment", s.acknowledged(1))
	if err := s.client(s.front.url).Consume(t.Context(), teamdata.Consumer{Endpoint: "whe_1", Verifier: verifier(t, s.Now(), other), Handle: s.take}); codeOf(err) != teamdata.CodeConflict {
		t.Errorf("one that begins ended with %v", err)
	}
	s.Admin("POST", "/orgs/org_acme/endpoints/whe_1/enable", "")
	s.add("usr_b")
	s.until("what came later", s.acknowledged(2))
}

// A delivery that is gone when it was handled keeps nothing from being acknowledged.
func TestConsumeWhatIsGone(t *testing.T) {
	s := toConsume(t)
	s.add("usr_a")
	begun, goOn := make(chan bool, 1), make(chan bool)
	s.run(teamdata.Consumer{Handle: func(ctx context.Context, e teamdata.Event) error {
		if strings.Contains(string(e.Body), "usr_a") {
			begun <- true
			<-goOn
		}
		return s.take(ctx, e)
	}})
	<-begun
	s.Advance(91 * 24 * time.Hour)
	if left := s.Deliveries("org_acme", "whe_1"); len(left) > 0 {
		t.Fatalf("there is %+v", left)
	}
	s.add("usr_b", "usr_c")
	close(goOn)
	s.until("the acknowledgments", s.acknowledged(2))
}

// What is wrong with a consumer is said before anything is sent.
func TestConsumeSettings(t *testing.T) {
	v, handle := verifier(t, noon, other), func(context.Context, teamdata.Event) error { return nil }
	for want, c := range map[string]teamdata.Consumer{
		"Verifier": {Handle: handle},
		"Handle":   {Verifier: v},
		"Parallel": {Verifier: v, Handle: handle, Parallel: 101},
		"Limit":    {Verifier: v, Handle: handle, Limit: -1},
		"Lease":    {Verifier: v, Handle: handle, Lease: 5500 * time.Millisecond},
		"Grace":    {Verifier: v, Handle: handle, Grace: -1},
	} {
		c.Endpoint = "whe_1"
		if err := teamdata.New(teamdata.Config{BaseURL: "https://data.example.com", HTTP: &http.Client{Transport: &recorder{}}}).Consume(t.Context(), c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func (s *consumed) client(url string) *teamdata.Client {
	return teamdata.New(teamdata.Config{BaseURL: url, Key: s.Key("key_1")})
}

func codeOf(err error) string {
	if refused, ok := errors.AsType[*teamdata.Error](err); ok {
		return refused.Code
	}
	return fmt.Sprint(err)
}

// front stands before a server, and does something to the next pulls.
type front struct {
	url    string
	nacked chan struct{} // when it is closed, nacks that were executed are answered; nil: at once
	mu     sync.Mutex
	faults []string
}

func newFront(t *testing.T, s *teamdatatest.Server) *front {
	target, err := url.Parse(s.URL)
	kit.Must(t, err)
	f := &front{}
	quiet := log.New(io.Discard, "", 0)
	proxy := &httputil.ReverseProxy{
		ErrorLog:  quiet,
		Transport: s.Client("").Transport,
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(target) },
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		fault := ""
		if q.URL.Path == "/pull/whe_1" {
			fault = f.pop()
		}
		if f.nacked != nil && strings.HasSuffix(q.URL.Path, "/nack") {
			answer := httptest.NewRecorder()
			proxy.ServeHTTP(answer, q)
			<-f.nacked
			w.WriteHeader(answer.Code)
			return
		}
		switch fault {
		case "cut":
			panic(http.ErrAbortHandler)
		case "lost", "half": // executed, and the answer does not come, or not whole
			answer := httptest.NewRecorder()
			proxy.ServeHTTP(answer, q)
			if fault == "half" {
				w.Header().Set("Content-Length", fmt.Sprint(answer.Body.Len()))
				w.Write(answer.Body.Bytes()[:answer.Body.Len()/2])
				http.NewResponseController(w).Flush()
			}
			panic(http.ErrAbortHandler)
		case "limited", "unavailable":
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(map[string]int{"limited": http.StatusTooManyRequests, "unavailable": http.StatusServiceUnavailable}[fault])
		default:
			proxy.ServeHTTP(w, q)
		}
	}))
	server.Config.ErrorLog = quiet
	t.Cleanup(server.Close)
	f.url = server.URL
	return f
}

func (f *front) next(fault string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = append(f.faults, fault)
}

func (f *front) pop() (fault string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.faults) > 0 {
		fault, f.faults = f.faults[0], f.faults[1:]
	}
	return fault
}

func (f *front) left() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.faults)
}
