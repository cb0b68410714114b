package app

import (
	"encoding/json"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/store"
)

// A request that waits for deliveries is answered when one is committed, and when the test
// clock is moved to the end of a lease.
func TestWaitingPullIsWoken(t *testing.T) {
	s := Defaults()
	s.Clock = NewStandingClock(time.Now())
	a := run(t, s)
	update := func(fn func(store.Tx) error) { kit.Must(t, a.store.Update(t.Context(), store.All, fn)) }
	update(func(tx store.Tx) error {
		_, err := store.CreateOrg(tx, "", store.Org{ID: "org_acme", Name: "Acme"})
		if err == nil {
			_, err = store.AddMember(tx, "", store.Member{OrgID: "org_acme", UserID: "usr_ada", Role: "owner"})
		}
		if err == nil {
			_, err = store.ImportEndpoint(tx, store.Endpoint{ID: "whe_pull", OrgID: "org_acme", Events: []string{"*"}})
		}
		if err == nil {
			_, err = store.ImportKey(tx, store.APIKey{ID: "key_pull", OrgID: "org_acme", SecretHash: store.HashSecret("secret"), Scopes: store.ScopeReceive, CreatedBy: "usr_ada"})
		}
		return err
	})
	answers := make(chan string, 1)
	for i, cause := range []func(){
		func() {
			update(func(tx store.Tx) error {
				_, err := store.SendTest(tx, "org_acme", "whe_pull")
				return err
			})
		},
		func() { kit.Must(t, a.Advance(t.Context(), time.Minute)) },
	} {
		sent := make(chan struct{})
		go func() { answers <- pullFirst(t, a.Base()+"/pull/whe_pull", sent) }()
		<-sent
		cause()
		select {
		case id := <-answers:
			if id == "" {
				t.Errorf("cause %d: nothing came", i)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("cause %d: the request is not answered", i)
		}
	}
}

// pullFirst waits for a delivery, and returns its id. It closes sent when it has asked for it.
func pullFirst(t *testing.T, url string, sent chan<- struct{}) string {
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { close(sent) }})
	r, err := http.NewRequestWithContext(ctx, "POST", url, strings.NewReader(`{"waitSeconds":60,"leaseSeconds":60}`))
	if err != nil {
		t.Error(err)
		return ""
	}
	r.Header.Set("Authorization", "Bearer key_pull.secret")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return ""
	}
	defer response.Body.Close()
	var answer struct{ Deliveries []struct{ ID string } }
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || len(answer.Deliveries) != 1 {
		t.Errorf("answered %d, %v", response.StatusCode, err)
		return ""
	}
	return answer.Deliveries[0].ID
}
