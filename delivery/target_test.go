package delivery

import (
	"testing"
	"time"

	"teamdata/store"
)

// What was parsed of an endpoint is parsed again once any of it has changed.
func TestChangedEndpointIsParsedAgain(t *testing.T) {
	e := store.Endpoint{
		Number: 7, URL: "https://receiver.example/hook",
		Secret: store.NewEndpointSecret(), OldSecret: store.NewEndpointSecret(), OldSecretUntil: time.Now().Add(time.Hour),
	}
	for name, change := range map[string]func(*store.Endpoint){
		"URL":        func(e *store.Endpoint) { e.URL += "?" },
		"secret":     func(e *store.Endpoint) { e.Secret = store.NewEndpointSecret() },
		"old secret": func(e *store.Endpoint) { e.OldSecret = "" },
		"overlap":    func(e *store.Endpoint) { e.OldSecretUntil = time.Now() },
	} {
		var ts targets
		before, err := ts.of(&e)
		if err != nil {
			t.Fatal(err)
		}
		if same, _ := ts.of(&e); same != before {
			t.Error("nothing has changed, and it is parsed again")
		}
		changed := e
		change(&changed)
		if after, _ := ts.of(&changed); after == before || !after.isOf(&changed) {
			t.Errorf("the %s has changed, and it is not parsed again", name)
		}
	}
}

// An endpoint whose URL was changed gets the next delivery there.
func TestChangedURL(t *testing.T) {
	b := newBench(t)
	r, moved := newReceiver(t, nil), newReceiver(t, nil)
	roots := r.roots()
	roots.AddCert(moved.Certificate())
	b.run(Config{RootCAs: roots})
	e := b.endpoint(r.URL)
	b.sendTest(e.ID)
	r.next(t)
	e.URL = moved.URL
	b.update(func(tx store.Tx) error { return tx.PutEndpoint(e) })
	b.sendTest(e.ID)
	moved.next(t)
}
