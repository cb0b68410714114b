package load

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// Accepted are the deliveries that a client was told of.
type Accepted struct {
	mu      sync.Mutex
	IDs     map[string]bool
	refused int           // how often the answer was 503
	Longest time.Duration // that an answer took
}

// Add adds what was answered, "" for a 503.
func (a *Accepted) Add(t *testing.T, id string, took time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.Longest = max(a.Longest, took)
	if id == "" {
		a.refused++
		return
	}
	if a.IDs == nil {
		a.IDs = make(map[string]bool)
	}
	if a.IDs[id] {
		t.Errorf("the delivery %s was the answer to two keys", id)
	}
	a.IDs[id] = true
}

func (a *Accepted) Count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.IDs)
}

func (a *Accepted) Refusals() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.refused
}

// Flows waits until n more were accepted. If they are not, it reports the output of a
// program.
func (a *Accepted) Flows(p *program.Process, n int) {
	p.T.Helper()
	more := a.Count() + n
	p.Await("the next deliveries", func() bool { return a.Count() >= more })
}

// Client posts tests to the endpoints of a receiver.
type Client struct {
	Number, Endpoints int
	Server            func(try int) *program.Process // that gets a request
	Again             bool                           // each has a key of its own, and is made again until it is accepted
	Lost              func(error) bool               // whether it may have no answer for that reason; nil: for none
}

// Post posts until the context is done.
func (a *Accepted) Post(ctx context.Context, t *testing.T, c Client) {
	for i := 0; ctx.Err() == nil; i++ {
		path := fmt.Sprintf("/webhooks/whe_%d/test", (c.Number+i)%c.Endpoints)
		var headers []string
		if c.Again {
			headers = []string{"Idempotency-Key", fmt.Sprintf("%d-%d", c.Number, i)}
		}
		for try, done := i, false; !done && t.Context().Err() == nil; try++ {
			began := time.Now()
			got, err := c.Server(try).Do("POST", path, program.WriteKey, headers...)
			var body struct{ ID string }
			switch {
			case err != nil && (c.Lost == nil || !c.Lost(err)):
				t.Errorf("a request was not answered: %v", err)
				return
			case err != nil:
			case got.Status == http.StatusOK && json.Unmarshal([]byte(got.Body), &body) == nil:
				a.Add(t, body.ID, time.Since(began))
				done = true
			case got.Status == http.StatusServiceUnavailable && got.Header.Get("Retry-After") != "":
				a.Add(t, "", time.Since(began))
				done = !c.Again
			default:
				t.Errorf("answered %d %v %s", got.Status, got.Header, got.Body)
				return
			}
			switch {
			case body.ID == "":
				<-time.After(20 * time.Millisecond)
			case !kit.AtSize(): // leaves other tests something of the machine
				<-time.After(5 * time.Millisecond)
			}
		}
	}
}

// Whatever lets a request of a [Client] be lost for any reason.
func Whatever(error) bool { return true }
