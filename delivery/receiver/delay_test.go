package receiver

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

// An event is answered after the delay, or at once when the receiver stops or
// the sender hangs up. A request that does not verify is refused at once.
func TestDelay(t *testing.T) {
	for _, test := range []struct {
		name          string
		secret        string
		stops, hangUp time.Duration // 0 for never
		want          time.Duration
	}{
		{"event", secret, 0, 0, 2 * time.Second},
		{"stop", secret, time.Second, 0, time.Second},
		{"sender hangs up", secret, 0, time.Second, time.Second},
		{"refused", old, 0, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start, printed := time.Now(), time.Time{}
				r := New(Config{Secrets: parsed(t, secret), Delay: 2 * time.Second, Print: func(Event) { printed = time.Now() }})
				q, cancel := withCancel(signed(t, "https://127.0.0.1/", "whd_1", start, event, test.secret))
				defer cancel()
				after(test.stops, r.Stop)
				after(test.hangUp, cancel)
				r.ServeHTTP(httptest.NewRecorder(), q)
				if took := time.Since(start); took != test.want || !printed.Equal(start) {
					t.Errorf("it took %s, and was printed at %s", took, printed)
				}
			})
		})
	}
}

func after(d time.Duration, do func()) {
	if d > 0 {
		time.AfterFunc(d, do)
	}
}

func withCancel(q *http.Request) (*http.Request, func()) {
	ctx, cancel := context.WithCancel(q.Context())
	return q.WithContext(ctx), cancel
}

// Over real sockets nothing else ends this delay.
func TestDelayEndsWithTheReceiver(t *testing.T) {
	printed := make(chan Event, 1)
	r, server := serve(t, Config{Secrets: parsed(t, secret), Delay: time.Hour, Print: func(e Event) { printed <- e }})
	status := make(chan int, 1)
	q := signed(t, server.URL, "whd_1", time.Now(), event, secret)
	go func() {
		answer, err := server.Client().Do(q)
		if err != nil {
			status <- 0
			return
		}
		answer.Body.Close()
		status <- answer.StatusCode
	}()
	<-printed // before it is answered
	r.Stop()
	r.Stop()
	if got := <-status; got != 204 {
		t.Errorf("answered %d", got)
	}
}

func TestDelayEndsWithTheSender(t *testing.T) {
	answered, hangUp := make(chan Event, 1), make(chan func(), 1)
	config := Config{Secrets: parsed(t, secret), Delay: time.Hour}
	config.Print = func(Event) { (<-hangUp)() }
	config.Answered = func(e Event) { answered <- e }
	_, server := serve(t, config)
	q := signed(t, server.URL, "whd_1", time.Now(), event, secret)
	client := server.Client()
	q, cancel := withCancel(q)
	hangUp <- cancel
	if answer, err := client.Do(q); err == nil { // it came between the end of TLS and that of the connection
		answer.Body.Close()
	}
	if e := <-answered; e.ID != "whd_1" {
		t.Errorf("answered %+v", e)
	}
}
