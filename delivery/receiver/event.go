package receiver

import (
	"encoding/json"
	"time"
)

// Verdict says whether an event is from whom it says.
type Verdict string

// The verdicts.
const (
	Verified   Verdict = "verified"
	Unverified Verdict = "UNVERIFIED" // there is no secret to verify it with
	Refused    Verdict = "REFUSED"    // nobody should handle it
)

// Event is a request that came, and what became of it. ID, Type, Body and
// Problem hold what a stranger wrote: Text and JSONLines make it fit to print.
type Event struct {
	ReceivedAt time.Time
	Verdict    Verdict
	ID         string // the webhook-id
	Type       string // "" if the body names none
	Again      bool   // the id was seen before, among the last 10,000
	Status     int    // the answer's
	Problem    string // why it was refused or could not be forwarded, in words
	Body       []byte
}

func (e *Event) refuse(status int, problem string) {
	e.Verdict, e.Status, e.Problem = Refused, status, problem
}

func typeOf(body []byte) string {
	var event struct{ Type string }
	if json.Unmarshal(body, &event) != nil {
		return ""
	}
	return event.Type
}
