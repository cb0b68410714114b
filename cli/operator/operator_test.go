package operator

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"teamdata/admin"
	teamdata "teamdata/client"
	"teamdata/e2e/kit"
	"teamdata/internal/hint"
	"teamdata/internal/ratelimit"
	"teamdata/store"
	"teamdata/store/boltstore"
)

const testVersion = "v1.2.3"

// world is a server and a command line that talks to it.
type world struct {
	t       *testing.T
	url     string
	network http.RoundTripper // nil: that of net/http
	columns int               // of the terminal that is printed to; 0: it is none
	in      io.Reader         // the standard input
}

// newWorld serves the admin API of a data file that holds the org org_acme.
func newWorld(t *testing.T) *world {
	w := newWorldOf(t, realAPI(t))
	w.must("org", "create", "--name", "Acme", "--id", "org_acme", "--quiet")
	return w
}

func newWorldOf(t *testing.T, handler http.Handler) *world {
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return &world{t: t, url: server.URL}
}

// inProcess answers requests without a network.
type inProcess struct{ http.Handler }

func (p inProcess) RoundTrip(q *http.Request) (*http.Response, error) {
	recorder := httptest.NewRecorder()
	p.ServeHTTP(recorder, q)
	return recorder.Result(), nil
}

func realAPI(t *testing.T) http.Handler {
	t.Helper()
	return apiOf(realStore(t))
}

func apiOf(s store.Engine) http.Handler {
	return admin.New(s, admin.Config{Version: testVersion, Log: zerolog.Nop(), Status: func(context.Context) (admin.Status, error) { return admin.Status{}, nil }}).Local()
}

func realStore(t *testing.T) store.Engine {
	t.Helper()
	s, err := boltstore.Open(filepath.Join(t.TempDir(), "teamdata.db"), boltstore.Options{NoSync: true})
	kit.Must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// run runs a command line to its end.
func (w *world) run(args ...string) (out, told string, err error) {
	config := Config{
		Version: testVersion, DefaultData: "none.db",
		Connect: func(context.Context, Target) (Connection, error) {
			return Connection{Config: teamdata.Config{HTTP: &http.Client{Transport: w.network}, BaseURL: w.url}, Close: func() error { return nil }}, nil
		},
		Width: func(io.Writer) int { return w.columns },
	}
	root := &cobra.Command{Use: "teamdata", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(Commands(config)...)
	var stdout, stderr bytes.Buffer
	root.SetArgs(args)
	root.SetIn(w.in)
	root.SetOut(&stdout)
	root.SetErr(&stderr)
	err = root.ExecuteContext(context.Background())
	return stdout.String(), stderr.String(), err
}

func (w *world) must(args ...string) string {
	w.t.Helper()
	out, _, err := w.run(args...)
	if err != nil {
		w.t.Fatalf("%q: %v", args, err)
	}
	return out
}

// What strangers have a part in reaches a terminal as text, and scripts as it is.
func TestTerminal(t *testing.T) {
	w := newWorld(t)
	const bidi, hostile = "Ada\u202e", "Ada\x1b[2J\u009b31m\u202e\a"
	w.must("member", "add", "usr_ada", "--role", "owner", "--name", bidi, "--email", strings.Repeat("e", 200)+"@acme.example")
	w.must("instructions", "update", "First.\n\x1b[31mSecond.\t"+hostile)
	piped := w.must("member", "show", "usr_ada", "--json")
	w.columns = 40
	for _, args := range [][]string{
		{"member", "list"}, {"member", "show", "usr_ada"}, {"member", "list", "--json"},
		{"member", "show", "usr_ada", "--json"}, {"instructions", "show"}, {"instructions", "show", "--json"},
	} {
		out := w.must(args...)
		if i := strings.IndexFunc(out, func(r rune) bool {
			return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
		}); i >= 0 {
			t.Errorf("%q printed %q", args, out)
		}
	}
	for line := range strings.Lines(w.must("member", "list")) {
		if n := utf8.RuneCountInString(strings.TrimSpace(line)); n > w.columns {
			t.Errorf("a line has %d columns: %s", n, line)
		}
	}
	for _, text := range []string{piped, w.must("member", "show", "usr_ada", "--json")} {
		var m struct{ Name string }
		if err := json.Unmarshal([]byte(text), &m); err != nil || m.Name != bidi {
			t.Errorf("the name became %q in %s (%v)", m.Name, text, err)
		}
	}
}

// A list is walked to its end, in the order of the API, whatever is printed of
// it.
func TestPages(t *testing.T) {
	w := newWorld(t)
	var want []string
	for i := range 230 {
		want = append(want, fmt.Sprintf("action.%d", i))
	}
	w.in = strings.NewReader(`{"action":"` + strings.Join(want, "\"}\n{\"action\":\"") + `"}`)
	w.must("audit", "add", "--file", "-")
	want = append([]string{"org.created"}, want...)

	var entries []struct{ ID, Action string }
	kit.Must(t, json.Unmarshal([]byte(w.must("audit", "list", "--json")), &entries))
	var ids, actions []string
	for _, e := range entries {
		ids, actions = append(ids, e.ID), append(actions, e.Action)
	}
	if !slices.Equal(actions, want) {
		t.Errorf("as JSON it listed %q", actions)
	}
	if got := strings.Fields(w.must("audit", "list", "--quiet")); !slices.Equal(got, ids) {
		t.Errorf("quietly it listed %q", got)
	}
	for limit, n := range map[string]int{"0": 231, "1": 1, "100": 100, "101": 101, "200": 200, "231": 231, "500": 231} {
		if got := strings.Fields(w.must("audit", "list", "--quiet", "--limit", limit)); !slices.Equal(got, ids[:n]) {
			t.Errorf("with the limit %s it listed %d", limit, len(got))
		}
	}
	if _, _, err := w.run("audit", "list", "--limit", "-1"); err == nil {
		t.Error("a limit of -1 passed")
	}

	// The columns of the table begin where their titles do.
	lines := strings.Split(strings.TrimSpace(w.must("audit", "list")), "\n")
	if len(lines) != 232 {
		t.Fatalf("the table has %d lines", len(lines))
	}
	column := strings.Index(lines[0], "ACTION")
	for i, line := range lines[1:] {
		if !strings.HasPrefix(line[column:], want[i]+" ") {
			t.Fatalf("line %d is %q", i+1, line)
		}
	}
}

// Entries go in batches. What came before a wrong one stays; under a key the
// same file can be pushed again.
func TestPush(t *testing.T) {
	w := newWorld(t)
	var file strings.Builder
	for i := range 2500 {
		fmt.Fprintf(&file, "{\"action\":\"a.%d\"}\n", i)
	}
	good := file.String()
	push := func(text string) (string, error) {
		w.in = strings.NewReader(text)
		out, _, err := w.run("audit", "add", "--file", "-", "--idempotency-key", "july")
		return out, err
	}
	_, err := push(strings.Replace(good, `"a.1700"`, `""`, 1))
	if want := "the standard input line 1701: action: is missing or empty; the 1000 entries before it were added"; err == nil || err.Error() != want {
		t.Errorf("got %v, not %s", err, want)
	}
	for range 2 {
		if out, err := push(good); err != nil || out != "added 2500 audit entries\n" {
			t.Errorf("it printed %q, %v", out, err)
		}
	}
	if n := len(strings.Fields(w.must("audit", "list", "--quiet"))); n != 1+2500 {
		t.Errorf("there are %d entries", n)
	}
}

// A server of another version is told once, and what it does not know is not
// the user's fault.
func TestOtherVersion(t *testing.T) {
	w := newWorldOf(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Teamdata-Version", "v0.9.0")
		if strings.HasSuffix(r.URL.Path, "/plans") {
			rw.WriteHeader(http.StatusNotFound)
			io.WriteString(rw, `{"error":{"code":"notFound","message":"There is no such route."}}`)
			return
		}
		io.WriteString(rw, `{"data":[{"id":"org_a"}],"next":"org_a","hasMore":`+fmt.Sprint(r.FormValue("after") == "")+`}`)
	}))
	_, told, err := w.run("org", "list")
	if err != nil || strings.Count(told, "the server is teamdata v0.9.0, and this program is v1.2.3") != 1 {
		t.Errorf("it told %q, %v", told, err)
	}
	_, _, err = w.run("plan", "list")
	if text, advice := hint.Split(err); text != "There is no such route" || advice != "the server is teamdata v0.9.0, which may not have this yet" {
		t.Errorf("got %q, %q", text, advice)
	}
}

// Answers that are none of teamdata's end in one line.
func TestOddAnswers(t *testing.T) {
	for name, test := range map[string]struct {
		answer func(http.ResponseWriter)
		want   string
	}{
		"a proxy's page": {func(rw http.ResponseWriter) { http.Error(rw, "<html>", http.StatusBadGateway) }, "the server answered 502 Bad Gateway; " + notTeamdata},
		"a page":         {func(rw http.ResponseWriter) { io.WriteString(rw, "<html>") }, errForm.Error()},
		"a list":         {func(rw http.ResponseWriter) { io.WriteString(rw, "[1]") }, errForm.Error()},
		"nothing":        {func(http.ResponseWriter) {}, errForm.Error()},
		"a proxy's limit": {func(rw http.ResponseWriter) {
			rw.Header().Set("Retry-After", "90")
			rw.WriteHeader(http.StatusTooManyRequests)
		}, "the server answered 429 Too Many Requests; try again in 90 s"},
		"a limit": {func(rw http.ResponseWriter) {
			rw.Header().Set("Retry-After", "90")
			rw.WriteHeader(http.StatusTooManyRequests)
			io.WriteString(rw, `{"error":{"code":"rateLimited","message":"Too many requests."}}`)
		}, "Too many requests; try again in 90 s"},
		"a wrong token": {func(rw http.ResponseWriter) {
			rw.WriteHeader(http.StatusUnauthorized)
			io.WriteString(rw, `{"error":{"code":"unauthorized","message":"The token is wrong."}}`)
		}, "The token is wrong; it is the token of TEAMDATA_OPERATOR_TOKEN"},
		"a redirect":    {func(rw http.ResponseWriter) { rw.WriteHeader(http.StatusNotModified) }, "the server answered 304"},
		"a broken line": {func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, "no answer from the server: "},
		"control": {func(rw http.ResponseWriter) {
			rw.WriteHeader(400)
			io.WriteString(rw, `{"error":{"code":"x","message":"a\u001bb"}}`)
		}, `a\u001bb`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorldOf(t, http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { test.answer(rw) }))
			for _, args := range [][]string{{"org", "show", "org_a"}, {"org", "list"}} {
				_, _, err := w.run(args...)
				if err == nil || !strings.Contains(err.Error(), test.want) || strings.ContainsAny(err.Error(), "\n\x1b") {
					t.Errorf("%q: got %v", args, err)
				}
			}
		})
	}
}

// What a header can't carry is named, and nothing is sent.
func TestControlCharacters(t *testing.T) {
	w := newWorldOf(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a request was sent") }))
	for _, flag := range []string{"--actor", "--idempotency-key"} {
		if _, _, err := w.run("org", "create", "--name", "Acme", flag, "usr_ada\r"); err == nil || err.Error() != flag+` "usr_ada\r" holds a control character, such as a line break; leave it out` {
			t.Errorf("got %v", err)
		}
	}
}

// What the limit refuses is sent again; what is refused for ever ends.
func TestRefusedByTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		header, refuse, asked := "2", 2, 0
		api := realAPI(t)
		w := &world{t: t, url: "http://teamdata", network: inProcess{http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if asked++; asked <= refuse {
				rw.Header().Set("Retry-After", header)
				rw.WriteHeader(http.StatusTooManyRequests)
				io.WriteString(rw, `{"error":{"code":"rateLimited","message":"Too many requests."}}`)
				return
			}
			api.ServeHTTP(rw, r)
		})}}
		if out, told, err := w.run("org", "create", "--name", "Acme", "--id", "org_acme", "--quiet"); out != "org_acme\n" || strings.Count(told, "asks to wait for 2 s\n") != refuse || err != nil {
			t.Errorf("it printed %q and %q, %v", out, told, err)
		}
		header, refuse, asked = "", 1, 0
		if _, told, err := w.run("org", "list"); told != "the server has too many requests; trying again in 1 s\n" || err != nil {
			t.Errorf("without a Retry-After it told %q, %v", told, err)
		}
		refuse, asked = 1000, 0
		if _, _, err := w.run("org", "list"); err == nil || asked != maxRefused+1 {
			t.Errorf("it asked %d times, %v", asked, err)
		}
	})
}

// A tail that follows waits as long as the server's limit asks for, says so once, and goes on
// when a proxy before it refuses longer. Each entry comes once.
func TestTailRefusedByTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := realAPI(t)
		direct := &world{t: t, url: "http://teamdata", network: inProcess{api}}
		direct.must("org", "create", "--name", "Acme", "--id", "org_acme", "--quiet")
		limit := ratelimit.New[string](10, time.Minute, 1)
		asked, refused := 0, 0
		refuse := func(rw http.ResponseWriter, seconds int) {
			refused++
			rw.Header().Set("Retry-After", strconv.Itoa(seconds))
			rw.WriteHeader(http.StatusTooManyRequests)
			io.WriteString(rw, `{"error":{"code":"rateLimited","message":"Too many requests."}}`)
		}
		w := &world{t: t, url: direct.url, network: inProcess{http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			asked++
			direct.must("audit", "add", "--action", fmt.Sprint("asked.n", asked), "--quiet")
			switch d := limit.Take("", time.Now()); {
			case asked == 80: // or it would follow for ever
				rw.WriteHeader(http.StatusForbidden)
			case asked > 40 && asked < 50:
				refuse(rw, 1000)
			case !d.OK:
				refuse(rw, ratelimit.Seconds(d.RetryAfter))
			default:
				api.ServeHTTP(rw, r)
			}
		})}}
		out, told, err := w.run("audit", "tail", "--follow")
		if want := "the server asks to wait for "; err == nil || refused < 12 || strings.Count(told, want) != 1 || strings.Count(told, "trying again\n") != 1 || strings.Count(told, "the server answers again\n") != 1 {
			t.Errorf("refused %d times, it told %q, %v", refused, told, err)
		}
		all := strings.SplitAfter(direct.must("audit", "tail"), "\n")
		if lines := strings.SplitAfter(out, "\n"); len(lines) < 50 || !slices.Equal(lines[:len(lines)-1], all[:len(lines)-1]) {
			t.Errorf("it printed %d of %d entries, or in another order:\n%s", len(lines), len(all), out)
		}
	})
}
