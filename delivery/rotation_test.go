package delivery

import (
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"teamdata/store"
)

// While a rotation's overlap lasts, each delivery verifies with the new secret
// and with the old one; afterwards with the new one alone.
func TestRotation(t *testing.T) {
	b := newBench(t)
	r := newReceiver(t, nil)
	b.run(Config{RootCAs: r.roots()})
	e := b.endpoint(r.URL)
	first := e.Secret
	b.checkVerifies(r, e.ID, map[string]bool{first: true})

	second := b.rotate(e.ID, time.Hour).Secret
	for range 2 {
		b.checkVerifies(r, e.ID, map[string]bool{first: true, second: true})
	}

	rotated := b.rotate(e.ID, 100*time.Millisecond) // the first secret's overlap ends with it
	b.checkVerifies(r, e.ID, map[string]bool{first: false, rotated.Secret: true})
	<-time.After(time.Until(rotated.OldSecretUntil))
	b.checkVerifies(r, e.ID, map[string]bool{first: false, second: false, rotated.Secret: true})

	before := rotated.Secret
	for range 2 {
		last := b.rotate(e.ID, 0).Secret
		b.checkVerifies(r, e.ID, map[string]bool{before: false, last: true, store.NewEndpointSecret(): false})
		before = last
	}
}

func (b *bench) rotate(endpointID string, overlap time.Duration) (e store.Endpoint) {
	b.Helper()
	b.update(func(tx store.Tx) (err error) {
		e, err = store.RotateSecret(tx, "", testOrg, endpointID, "", overlap)
		return err
	})
	return e
}

// checkVerifies holds a delivery to what the reference library is to say of it,
// with each of the secrets.
func (b *bench) checkVerifies(r *receiver, endpointID string, secrets map[string]bool) {
	b.Helper()
	b.sendTest(endpointID)
	got := r.next(b)
	for secret, want := range secrets {
		webhook, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			b.Fatal(err)
		}
		if err := webhook.Verify(got.body, got.header); (err == nil) != want {
			b.Errorf("it is to verify: %t, and the library says %v", want, err)
		}
	}
}
