// Package receiver is a webhook receiver to look at: it verifies what it gets
// with the Standard Webhooks reference library, prints it, and acknowledges it.
// Its verdict says what any receiver would say; it shares no code with the
// signing side.
package receiver

import (
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

const maxBody = 1 << 20

// Receiver is an http.Handler that prints each request as a few lines.
type Receiver struct {
	webhook *standardwebhooks.Webhook

	mu   sync.Mutex
	out  io.Writer
	seen map[string]bool // the ids that were handled
}

// New makes a receiver for an endpoint's secret that prints to out.
func New(secret string, out io.Writer) (*Receiver, error) {
	webhook, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		return nil, err
	}
	return &Receiver{webhook: webhook, out: out, seen: make(map[string]bool)}, nil
}

// ServeHTTP answers 204 to what verifies, an id that it has seen before too,
// and 400 to anything else.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, q.Body, maxBody))
	if err == nil {
		err = r.webhook.Verify(body, q.Header)
	}
	r.print(q.Header.Get(standardwebhooks.HeaderWebhookID), body, err)
	if err != nil {
		http.Error(w, "the request does not verify", http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (r *Receiver) print(id string, body []byte, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	verdict := "verified"
	switch {
	case err != nil:
		verdict = "REFUSED: " + err.Error()
	case r.seen[id]:
		verdict = "verified, seen before"
	default:
		r.seen[id] = true
	}
	fmt.Fprintf(r.out, "%s  %s  %s\n  %s\n", time.Now().Format(time.TimeOnly), id, verdict, body)
}
