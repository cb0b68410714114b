package operator

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"teamdata/internal/hint"
	"teamdata/internal/httpclient"
	"teamdata/internal/terminal"
	"teamdata/store"
)

// object is a request's body.
type object map[string]any

// answer is what a request was answered with, and not an error.
type answer struct {
	header http.Header
	body   []byte
}

const (
	maxAnswer  = 64 << 20        // bytes
	maxWait    = 2 * time.Minute // for an answer
	maxRefused = 10              // how often a refused request is sent again
)

// do makes a request to a route below /admin/v1. A request refused by the
// server's rate limit is retried after Retry-After.
func (s *session) do(route string, body object) (answer, error) {
	var content []byte
	if body != nil {
		var err error
		if content, err = json.Marshal(body); err != nil {
			return answer{}, err
		}
	}
	for refused := 0; ; refused++ {
		a, status, err := s.once(route, content)
		if err != nil {
			return answer{}, err
		}
		s.compareVersions(a.header)
		switch {
		case status < 300:
			return a, nil
		case status != http.StatusTooManyRequests || refused == maxRefused:
			return answer{}, s.refusal(status, a)
		}
		if err := s.wait(a.header.Get("Retry-After")); err != nil {
			return answer{}, err
		}
	}
}

// read makes a request, and reads the JSON of its answer.
func (s *session) read(route string, body object, to any) (answer, error) {
	a, err := s.do(route, body)
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal(a.body, to); err != nil {
		return a, errForm(err)
	}
	return a, nil
}

// once sends a request and reads its answer.
func (s *session) once(route string, content []byte) (a answer, status int, err error) {
	ctx, cancel := context.WithTimeout(s.cmd.Context(), maxWait)
	defer cancel()
	method, path := s.routeTo(route)
	q, err := http.NewRequestWithContext(ctx, method, s.conn.Base+prefix+path, bytes.NewReader(content))
	if err != nil {
		return a, 0, err
	}
	s.setHeaders(q)
	r, err := s.conn.Client.Do(q)
	if err != nil {
		return a, 0, unanswered(method, err)
	}
	defer r.Body.Close()
	a.header = r.Header
	a.body, err = io.ReadAll(io.LimitReader(r.Body, maxAnswer+1))
	switch {
	case err != nil:
		return a, 0, unanswered(method, err)
	case len(a.body) > maxAnswer:
		return a, 0, hint.New("the answer is larger than any of teamdata", notTeamdata)
	}
	return a, r.StatusCode, nil
}

func (s *session) setHeaders(q *http.Request) {
	q.Header.Set("User-Agent", "teamdata/"+s.Version)
	if q.ContentLength > 0 {
		q.Header.Set("Content-Type", "application/json")
	}
	if s.actor != "" {
		q.Header.Set("Teamdata-Actor", s.actor)
	}
	if s.idempotencyKey != "" && q.Method == http.MethodPost {
		q.Header.Set("Idempotency-Key", s.idempotencyKey)
	}
	if s.ifMatch != "" {
		q.Header.Set("If-Match", s.ifMatch)
	}
}

// wait waits as long as the server requests, up to a limit.
func (s *session) wait(retryAfter string) error {
	seconds, err := strconv.Atoi(retryAfter)
	if err != nil || seconds < 0 {
		seconds = 1
	}
	seconds = min(seconds, 60)
	s.note("the server asks to wait for %d s", seconds)
	select {
	case <-s.cmd.Context().Done():
		return context.Cause(s.cmd.Context())
	case <-time.After(time.Duration(seconds) * time.Second):
		return nil
	}
}

// unanswered explains a request that got no answer.
func unanswered(method string, err error) error {
	err = httpclient.Unanswered(err)
	if _, advice := hint.Split(err); advice != "" || method == http.MethodGet {
		return err
	}
	return hint.With(err, "it may have been done all the same: check before you try again")
}

// compareVersions warns once of a server that is of another version.
func (s *session) compareVersions(h http.Header) {
	theirs := h.Get("Teamdata-Version")
	if s.warned || theirs == "" || theirs == s.Version {
		return
	}
	s.warned = true
	s.note("warning: the server is teamdata %s, and this program is %s; use the one that belongs to the server", theirs, s.Version)
}

// refusal is the error that an answer reports.
func (s *session) refusal(status int, a answer) error {
	var body struct {
		Error struct {
			Code    store.Code
			Message string
		}
	}
	if err := json.Unmarshal(a.body, &body); err != nil || body.Error.Message == "" {
		return hint.New(fmt.Sprintf("the server answered %d %s", status, http.StatusText(status)), notTeamdata)
	}
	e := store.Errorf(body.Error.Code, "%s", terminal.Plain(strings.TrimSuffix(body.Error.Message, ".")))
	e.Advice = hintFor(body.Error.Code, body.Error.Message)
	theirs := a.header.Get("Teamdata-Version")
	unknownRoute := status == http.StatusNotFound || status == http.StatusMethodNotAllowed
	if unknownRoute && theirs != s.Version && theirs != "" {
		e.Advise("the server is teamdata %s, which may not have this yet", terminal.Plain(theirs))
	}
	return e
}

// hints are advice on errors for the command line, by code and a part of the
// message. The first match wins.
var hints = []struct {
	code  store.Code
	holds string
	hint  string
}{
	{store.CodeNotFound, "such org", "list them with: teamdata org list"},
	{store.CodeNotFound, "such member", "list them with: teamdata member list"},
	{store.CodeNotFound, "endpoint", "list them with: teamdata endpoint list"},
	{store.CodeNotFound, "API key", "list them with: teamdata key list"},
	{store.CodeNotFound, "delivery", "list them with: teamdata delivery list"},
	{store.CodeNotFound, "such replay", "list them with: teamdata replay list"},
	{store.CodeConflict, "replays running", "list them with: teamdata replay list"},
	{store.CodeNotFound, "plan", "list them with: teamdata plan list"},
	{store.CodeNotFound, "event type", "list them with: teamdata event-type list"},
	{store.CodeNotFound, "token", "list them with: teamdata operator-token list"},
	{store.CodeBadRequest, "there is no plan", "list them with: teamdata plan list"},
	{store.CodeBadRequest, "is not an event type", "list them with: teamdata event-type list"},
	{store.CodeBadRequest, "no event type", "list them with: teamdata event-type list"},
	{store.CodeBadRequest, "is no owner or admin", "list the members with: teamdata member list"},
	{store.CodeConflict, "at least one owner", "teamdata member update USER --role owner"},
	{store.CodeConflict, "is a member already", "change it with: teamdata member update USER"},
	{store.CodeConflict, "Idempotency-Key", "wait for the first one to end"},
	{store.CodeIdempotencyMismatch, "", "use another --idempotency-key"},
	{store.CodePreconditionFailed, "", "see theirs with: teamdata instructions show"},
}

func hintFor(code store.Code, message string) string {
	for _, h := range hints {
		if h.code == code && strings.Contains(message, h.holds) {
			return h.hint
		}
	}
	return ""
}
