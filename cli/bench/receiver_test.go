package bench

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
)

func newTestReceiver(t *testing.T) (*receiver, *bareClient) {
	t.Helper()
	r, err := beginSession(t, tiny(t)).newReceiver(t.Context(), "ca.pem")
	kit.Must(t, err)
	c, err := newBareClient(r.caFile)
	kit.Must(t, err)
	return r, c
}

func address(t *testing.T, r *receiver, silent bool) string {
	t.Helper()
	urls, err := r.listen(1, silent)
	kit.Must(t, err)
	return urls[0]
}

// What comes again with the same webhook-id is a duplicate.
func TestDuplicates(t *testing.T) {
	r, c := newTestReceiver(t)
	urls := []string{address(t, r, false), address(t, r, false)}
	for range 2 {
		c.posted.Store(0) // the ids begin anew
		kit.Must(t, c.post(t.Context(), &postJob{URLs: urls, Posts: 100}))
	}
	if n := r.count(); n != 100 || r.duplicates != 100 {
		t.Errorf("%d webhooks and %d duplicates, not 100 of each", n, r.duplicates)
	}
	for id, came := range r.came {
		if last, err := r.await(t.Context(), 100); err != nil || last.Before(came) {
			t.Errorf("the last came at %s, %s at %s (%v)", last, id, came, err)
		}
	}
}

// A silent address holds its senders until they give up.
func TestSilentAddress(t *testing.T) {
	r, c := newTestReceiver(t)
	url := address(t, r, true)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := c.postOne(ctx, url); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the post ended with %v", err)
	}
	if n := r.count(); n != 0 {
		t.Errorf("%d webhooks were taken", n)
	}
}

// Waiting for what does not come ends with the context.
func TestAwaitEnds(t *testing.T) {
	r, _ := newTestReceiver(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.await(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
}

// Any sender's spelling of the headers will do.
func TestHeaderCase(t *testing.T) {
	r, c := newTestReceiver(t)
	q, err := http.NewRequest("POST", address(t, r, false), strings.NewReader("{}"))
	kit.Must(t, err)
	q.Header.Set("Webhook-Id", "whd_1")
	answer, err := c.http.Do(q)
	if err != nil || answer.StatusCode != http.StatusNoContent || r.came["whd_1"].IsZero() {
		t.Errorf("the answer is %v (%v), the webhook came at %s", answer, err, r.came["whd_1"])
	}
}

// A receipt before the answer counts as 0 from there.
func TestDelays(t *testing.T) {
	now := time.Now()
	r := receiver{came: map[string]time.Time{"early": now, "late": now.Add(5 * time.Millisecond)}}
	d := r.delays([]sample{
		{"late", now.Add(-2 * time.Millisecond), now.Add(time.Millisecond)},
		{"early", now.Add(-3 * time.Millisecond), now.Add(time.Millisecond)},
	})
	if d.fromRequest[0] != 3*time.Millisecond || d.fromRequest[1] != 7*time.Millisecond {
		t.Errorf("from the request: %v", d.fromRequest)
	}
	if d.fromAnswer[0] != 0 || d.fromAnswer[1] != 4*time.Millisecond {
		t.Errorf("from the answer: %v", d.fromAnswer)
	}
}
