package server

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httputil"
	"regexp"
	"slices"
	"testing"
	"time"

	"teamdata/e2e/kit"
)

var requestSeeds = kit.NewSeeds("requests.seeds", 24)

// TestRequestsOfTheDocument makes requests up out of openapi.json and pull.json, right
// ones and such as they forbid, and holds each answer to the document and to what the
// request deserves.
func TestRequestsOfTheDocument(t *testing.T) {
	seen := map[int]bool{}
	requestSeeds.Run(t, func(t *testing.T, seed uint64) { makeUp(t, seeded(seed, 16<<10), seen) })
	for _, status := range []int{200, 304, 400, 401, 402, 403, 404, 405, 409, 410, 413, 422, 429} {
		if !seen[status] && !requestSeeds.Alone() && !t.Failed() {
			t.Errorf("no request was answered %d", status)
		}
	}
}

// FuzzRequests is the same of a fuzzer's bytes.
func FuzzRequests(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seeded(seed, 256))
	}
	f.Fuzz(func(t *testing.T, drawn []byte) { makeUp(t, drawn[:min(len(drawn), 1<<10)], map[int]bool{}) })
}

func seeded(seed uint64, size int) []byte {
	drawn, random := make([]byte, size), rand.NewPCG(seed, 0)
	for i := range drawn {
		drawn[i] = byte(random.Uint64())
	}
	return drawn
}

// makeUp makes requests to a server of its own until the bytes are used up, and
// notes which statuses it saw.
func makeUp(t *testing.T, drawn []byte, seen map[int]bool) {
	env, doc := newPullEnv(t, Config{KeyRate: 4, PullRate: 6, versions: threeVersions}), readDocument(t)
	env.server.pulls.stop() // who waits for deliveries would do so until they are sent
	doc.know(env)
	client := &http.Transport{DisableCompression: true}
	defer client.CloseIdleConnections()
	for d := (&draws{drawn}); ; {
		status, body := doc.ask(d).send(env, client)
		seen[status] = true
		doc.learn(body)
		if d.oneIn(4) {
			env.send(pick(d, "whe_pull", "whe_second"), 1)
		}
		env.Advance(time.Duration(d.below(8)) * time.Second)
		if len(d.left) == 0 || t.Failed() {
			break
		}
	}
	if log := env.LogOutput.String(); log != "" {
		t.Errorf("the log says %s", log)
	}
}

// know fills in what a client of the fixture knows.
func (doc *document) know(env *testEnv) {
	doc.known["id"] = []string{"whe_open", "whe_closed", "whe_theirs", "whe_none"}
	doc.known["endpoint"] = []string{"whe_pull", "whe_pull", "whe_pull", "whe_second", "whe_shut", "whe_open", "whe_teampull", "whe_none"}
	doc.known["after"] = []string{"1767225600000.mem_1"}
	doc.known["If-None-Match"] = []string{"*", `"x", "y"`}
	doc.known["Idempotency-Key"] = []string{"monday", "tuesday"}
	for _, v := range env.server.config.versions {
		doc.known["API-Version"] = append(doc.known["API-Version"], v.date)
	}
	for key := range fuzzedKeys {
		doc.keys = append(doc.keys, key)
	}
	slices.Sort(doc.keys)
}

// learn keeps the cursor of a page, and what was handed out, to ask with it later.
func (doc *document) learn(body []byte) {
	var answer struct {
		Next       string
		Deliveries []pulledDelivery
	}
	if json.Unmarshal(body, &answer) != nil {
		return
	}
	if answer.Next != "" {
		doc.known["after"] = append(doc.known["after"], answer.Next)
	}
	doc.handedOut.add(answer.Deliveries)
}

// send makes the request, and holds the answer's status to those it may have. All
// else of the answer is held to the document by the environment.
func (a asking) send(env *testEnv, client *http.Transport) (status int, answered []byte) {
	var body io.Reader = bytes.NewReader(a.sent)
	if a.chunked {
		body = io.MultiReader(body) // net/http can't tell its length
	}
	r, err := http.NewRequest(a.method, "http://"+env.listen()+a.url, body)
	kit.Must(env, err)
	r.Header = a.header
	dump, _ := httputil.DumpRequestOut(r, len(a.sent) < 100)
	dump = bytes.ToValidUTF8(dump, []byte("?"))
	answer, err := client.RoundTrip(r)
	if err != nil {
		env.Fatalf("%v\n%s", err, dump)
	}
	defer answer.Body.Close()
	got, err := io.ReadAll(answer.Body)
	if want := a.inVersion(a.statuses()); err != nil || !slices.Contains(want, answer.StatusCode) {
		env.Errorf("got %d, want one of %v: %s, %v\n%s", answer.StatusCode, want, got, err, dump)
	}
	if a.body != nil && a.fits && answer.StatusCode == http.StatusBadRequest && a.knownVersion() && !unlikeIDs.Match(got) {
		env.Errorf("%s is as the document says, and is answered %s", dump, got)
	}
	return answer.StatusCode, got
}

// unlikeIDs are refusals of a body that is as the document says.
var unlikeIDs = regexp.MustCompile(`is not a delivery of this endpoint|is given twice`)
