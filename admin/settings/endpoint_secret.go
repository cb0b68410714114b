package settings

import (
	"time"

	"teamdata/store"
)

// secretPage shows an endpoint's secrets, or asks how to rotate them.
type secretPage struct {
	store.Endpoint
	Both     bool         // the old secret signs too
	Err      *store.Error // nil: nothing is wrong
	Overlap  string       // that was chosen
	Overlaps []overlap
}

// overlap is how long the old secret may go on signing.
type overlap struct {
	Value, Text string
	duration    time.Duration
}

var overlaps = []overlap{
	{"1h", "1 hour", time.Hour},
	{"24h", "24 hours", 24 * time.Hour},
	{"7d", "7 days", store.MaxSecretOverlap},
	{"0", "at once, because somebody else may have seen it", 0},
}

// overlapOf finds what was chosen.
func overlapOf(value string) (time.Duration, error) {
	for _, o := range overlaps {
		if o.Value == value {
			return o.duration, nil
		}
	}
	return 0, store.Invalid("overlap", "Choose when the old secret stops signing.")
}

func (r *request) showSecret() error { return r.renderSecrets(200, "endpoint_secret", secretPage{}) }

func (r *request) askRotate() error {
	return r.renderSecrets(200, "endpoint_rotate", secretPage{Overlap: "24h"})
}

// rotateSecret leads to the new secret. Sent twice, its form rotates once: a
// second time would end the secret that receivers have.
func (r *request) rotateSecret() error {
	form := r.HTTP.PostForm
	_, _, err := r.once(func(tx store.Tx) (string, error) {
		overlap, err := overlapOf(form.Get("overlap"))
		if err != nil {
			return "", err
		}
		_, err = store.RotateSecret(tx, r.actor(), r.org.ID, r.param(endpointParam), form.Get("secret"), overlap)
		return "", err
	})
	if e, ok := formError(err); ok {
		return r.renderSecrets(e.Code.Status(), "endpoint_rotate", secretPage{Err: e, Overlap: form.Get("overlap")})
	}
	if err != nil {
		return err
	}
	return r.done("secret-rotated", r.endpointPath("secret"))
}

// renderSecrets fills in the endpoint of the path.
func (r *request) renderSecrets(status int, page string, p secretPage) error {
	err := r.view(func(tx store.Tx) (err error) {
		p.Endpoint, err = r.endpoint(tx)
		return err
	})
	if err != nil {
		return err
	}
	p.Both, p.Overlaps = len(p.Secrets(r.now)) > 1, overlaps
	return r.render(status, page, &p)
}
