package operator

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"teamdata/store"
)

// apiError is an error that the API answers.
type apiError struct {
	code    store.Code
	message string
	hint    string // what to do about it on the command line
}

func (e *apiError) Error() string {
	text := plain(e.message)
	if e.hint != "" {
		text = strings.TrimSuffix(text, ".") + "; " + e.hint
	}
	return text
}

// isCode tells whether the API answered err with a code.
func isCode(err error, code store.Code) bool {
	var e *apiError
	return errors.As(err, &e) && e.code == code
}

// refusal is the error that an answer tells.
func (s *session) refusal(status int, a answer) error {
	var body struct {
		Error struct {
			Code    store.Code
			Message string
		}
	}
	if err := json.Unmarshal(a.body, &body); err != nil || body.Error.Message == "" {
		return fmt.Errorf("the server answered %d %s; is it a teamdata server?", status, http.StatusText(status))
	}
	e := &apiError{code: body.Error.Code, message: body.Error.Message, hint: hintFor(body.Error.Code, body.Error.Message)}
	theirs := a.header.Get("Teamdata-Version")
	unknownRoute := status == http.StatusNotFound || status == http.StatusMethodNotAllowed
	if unknownRoute && theirs != s.Version && theirs != "" {
		e.hint = fmt.Sprintf("the server is teamdata %s, which may not have this yet", plain(theirs))
	}
	return e
}

// hints are what to do about errors on the command line: of a code, with a
// message that holds a text. The first one counts.
var hints = []struct {
	code  store.Code
	holds string
	hint  string
}{
	{store.CodeNotFound, "such org", "see: teamdata org list"},
	{store.CodeNotFound, "such member", "see: teamdata member list"},
	{store.CodeNotFound, "endpoint", "see: teamdata endpoint list"},
	{store.CodeNotFound, "API key", "see: teamdata key list"},
	{store.CodeNotFound, "delivery", "see: teamdata delivery list --endpoint ENDPOINT"},
	{store.CodeNotFound, "plan", "see: teamdata plan list"},
	{store.CodeNotFound, "event type", "see: teamdata event-type list"},
	{store.CodeNotFound, "token", "see: teamdata operator-token list"},
	{store.CodeBadRequest, "there is no plan", "see: teamdata plan list"},
	{store.CodeBadRequest, "is not an event type", "see: teamdata event-type list"},
	{store.CodeBadRequest, "is no owner or admin", "see: teamdata member list"},
	{store.CodeConflict, "at least one owner", "as in: teamdata member change USER --role owner"},
	{store.CodeConflict, "is a member already", "change it with: teamdata member change USER"},
	{store.CodeConflict, "Idempotency-Key", "wait for the first one to end"},
	{store.CodeIdempotencyMismatch, "", "take another --idempotency-key"},
	{store.CodePreconditionFailed, "", "look at theirs with: teamdata instructions show"},
}

func hintFor(code store.Code, message string) string {
	for _, h := range hints {
		if h.code == code && strings.Contains(message, h.holds) {
			return h.hint
		}
	}
	return ""
}
