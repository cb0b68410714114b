package operator

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	teamdata "teamdata/client"
	"teamdata/internal/hint"
	"teamdata/internal/httpclient"
	"teamdata/internal/terminal"
)

const (
	maxWait    = 2 * time.Minute // for an answer
	maxRefused = 10              // how often a refused request is sent again
)

func (s *session) connect() error {
	for flag, text := range map[string]string{"actor": s.actor, "idempotency-key": s.idempotencyKey} {
		if strings.ContainsFunc(text, unicode.IsControl) { // a header can't have it
			return hint.New(fmt.Sprintf("--%s %q holds a control character, such as a line break", flag, text), "leave it out")
		}
	}
	conn, err := s.Connect(s.cmd.Context(), s.target)
	if err != nil {
		return err
	}
	through := *conn.HTTP
	through.Transport = versionCheck{s, through.Transport}
	header := http.Header{"User-Agent": {"teamdata/" + s.Version}}
	if s.actor != "" {
		header.Set("Teamdata-Actor", s.actor)
	}
	conn.HTTP, conn.Timeout, conn.Retries, conn.Retrying = &through, maxWait, maxRefused, s.retrying
	s.transport, s.end = teamdata.NewTransport(conn.Config, "/admin/v1", header), conn.Close
	return nil
}

// disconnect ends the connection, if there is one. Without a server it closes the
// data file.
func (s *session) disconnect() error {
	end := s.end
	if s.end = nil; end == nil {
		return nil
	}
	return end()
}

// retrying lets requests be sent again that the server's rate limit refused. For any
// other there is a person who can decide it.
func (s *session) retrying(err error, wait time.Duration) bool {
	refused, ok := errors.AsType[*teamdata.Error](err)
	if !ok || refused.Status != http.StatusTooManyRequests {
		return false
	}
	if s.target.Served && s.waited { // a command that goes on for days says it once
		return true
	}
	s.waited = true
	who := "the server asks to wait for"
	if refused.RetryAfter == 0 {
		who = "the server has too many requests; trying again in"
	}
	s.note("%s %.0f s", who, math.Ceil(wait.Seconds()))
	return true
}

// versionCheck warns once of a server that is of another version.
type versionCheck struct {
	*session
	http.RoundTripper // nil: that of net/http
}

func (v versionCheck) RoundTrip(q *http.Request) (*http.Response, error) {
	r, err := cmp.Or(v.RoundTripper, http.DefaultTransport).RoundTrip(q)
	if err != nil || v.warned || !v.isOther(r.Header) {
		return r, err
	}
	v.warned = true
	v.note("warning: the server is teamdata %s, and this program is %s; use the one that belongs to the server", r.Header.Get(versionHeader), v.Version)
	return r, nil
}

const versionHeader = "Teamdata-Version"

// isOther reports whether an answer is from a server of another version.
func (s *session) isOther(answer http.Header) bool {
	version := answer.Get(versionHeader)
	return version != "" && version != s.Version
}

// request makes a request, and returns the JSON of its answer.
func (s *session) request(o operation, body object, options ...teamdata.Option) (json.RawMessage, error) {
	path, err := s.pathTo(o)
	if err != nil {
		return nil, err
	}
	if o.method == http.MethodPost {
		options = append(options, teamdata.IdempotencyKey(s.idempotencyKey))
	}
	var content any
	if body != nil {
		content = body
	}
	answer, err := teamdata.Call[json.RawMessage](s.cmd.Context(), s.transport, o.method, path, content, options)
	return answer, s.explain(o, err)
}

// read makes a request, and reads the JSON of its answer.
func (s *session) read(o operation, body object, to any, options ...teamdata.Option) (json.RawMessage, error) {
	answer, err := s.request(o, body, options...)
	if err == nil && json.Unmarshal(answer, to) != nil {
		err = errForm
	}
	return answer, err
}

// explain turns the error of a request into one for people.
func (s *session) explain(o operation, err error) error {
	refused, isRefused := errors.AsType[*teamdata.Error](err)
	switch _, network := errors.AsType[*url.Error](err); {
	case err == nil:
		return nil
	case errors.Is(err, teamdata.ErrNoAnswer) && o.method != http.MethodGet:
		return hint.With(httpclient.Unanswered(err), "it may have been done all the same: check before you try again")
	case network:
		return unanswered{httpclient.Unanswered(err), err}
	case s.cmd.Context().Err() != nil:
		return context.Cause(s.cmd.Context())
	case isNotJSON(err):
		return errForm
	case !isRefused:
		return hint.With(err, notTeamdata)
	}
	later := ""
	if refused.RetryAfter > 0 {
		later = fmt.Sprintf("try again in %.0f s", refused.RetryAfter.Seconds())
	}
	if refused.Code == "" {
		return hint.New(fmt.Sprintf("the server answered %d %s", refused.Status, refused.Message), cmp.Or(later, notTeamdata))
	}
	err = refusal{terminal.Plain(strings.TrimSuffix(refused.Message, ".")), refused}
	advice := cmp.Or(hintFor(refused.Code, refused.Message), later)
	if refused.Code == teamdata.CodeUnauthorized {
		advice = "it is the token of " + s.target.TokenFrom()
	}
	if noRoute := refused.Status == http.StatusNotFound || refused.Status == http.StatusMethodNotAllowed; noRoute && s.isOther(refused.Header) {
		advice = fmt.Sprintf("the server is teamdata %s, which may not have this yet", terminal.Plain(refused.Header.Get(versionHeader)))
	}
	if advice == "" {
		return err
	}
	return hint.With(err, advice)
}

// unanswered is the error for people of a request without an answer, and its cause.
type unanswered struct{ error, cause error }

func (u unanswered) Error() string   { return u.error.Error() }
func (u unanswered) Unwrap() []error { return []error{u.error, u.cause} }

// isNotJSON reports whether an answer could not be read as what it should be.
func isNotJSON(err error) bool {
	_, syntax := errors.AsType[*json.SyntaxError](err)
	_, form := errors.AsType[*json.UnmarshalTypeError](err)
	return syntax || form
}

// refusal is the error that a server answered, in its own words alone.
type refusal struct {
	message string
	error   *teamdata.Error
}

func (r refusal) Error() string { return r.message }
func (r refusal) Unwrap() error { return r.error }

// refusedWith reports whether an error is an answer with a code.
func refusedWith(err error, code string) bool {
	refused, ok := errors.AsType[*teamdata.Error](err)
	return ok && refused.Code == code
}

const notTeamdata = "is it a teamdata server? Check --server or --socket"

var errForm = hint.New("the answer is not what teamdata answers", notTeamdata)

// hints are advice on errors for the command line, by code and a part of the
// message. The first match wins.
var hints = []struct{ code, part, hint string }{
	{teamdata.CodeNotFound, "such org", "list them with: teamdata org list"},
	{teamdata.CodeNotFound, "such member", "list them with: teamdata member list"},
	{teamdata.CodeNotFound, "endpoint", "list them with: teamdata endpoint list"},
	{teamdata.CodeNotFound, "API key", "list them with: teamdata key list"},
	{teamdata.CodeNotFound, "delivery", "list them with: teamdata delivery list"},
	{teamdata.CodeNotFound, "such replay", "list them with: teamdata replay list"},
	{teamdata.CodeConflict, "replays running", "list them with: teamdata replay list"},
	{teamdata.CodeNotFound, "plan", "list them with: teamdata plan list"},
	{teamdata.CodeNotFound, "event type", "list them with: teamdata event-type list"},
	{teamdata.CodeNotFound, "token", "list them with: teamdata operator-token list"},
	{teamdata.CodeBadRequest, "there is no plan", "list them with: teamdata plan list"},
	{teamdata.CodeBadRequest, "is not an event type", "list them with: teamdata event-type list"},
	{teamdata.CodeBadRequest, "no event type", "list them with: teamdata event-type list"},
	{teamdata.CodeBadRequest, "org has no endpoint", "list them with: teamdata endpoint list"},
	{teamdata.CodeBadRequest, "is not an owner or admin", "list the members with: teamdata member list"},
	{teamdata.CodeConflict, "at least one owner", "teamdata member update USER --role owner"},
	{teamdata.CodeConflict, "is a member already", "change it with: teamdata member update USER"},
	{teamdata.CodeConflict, "no mail server", "leave out --mail, and hand over the link that is printed"},
	{teamdata.CodeConflict, "endpoint is disabled", "enable it with: teamdata endpoint enable ENDPOINT"},
	{teamdata.CodeConflict, "Idempotency-Key", "wait for the first one to end"},
	{teamdata.CodeIdempotencyMismatch, "", "use another --idempotency-key"},
	{teamdata.CodePreconditionFailed, "", "see theirs with: teamdata instructions show"},
}

func hintFor(code, message string) string {
	for _, h := range hints {
		if h.code == code && strings.Contains(message, h.part) {
			return h.hint
		}
	}
	return ""
}
