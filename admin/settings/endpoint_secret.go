package settings

import (
	"encoding/base64"
	"strings"
	"time"

	"teamdata/admin/settings/diagnose"
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

func (r *request) showRotate() error {
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
		_, err = store.RotateSecret(tx, r.actor(), r.org.ID, r.Param(endpointParam), form.Get("secret"), overlap)
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

// verifyPage is the box for a receiver's developer: a request that was pasted, and
// what a receiver would find.
type verifyPage struct {
	store.Endpoint
	Err           *store.Error // nil: nothing is wrong
	Headers, Body string
	Received      string // as a datetime-local input has it, in UTC
	Encoded       bool   // the body is in base64
	Report        *diagnose.Report
	Known         bool   // the webhook-id is of a delivery of this endpoint,
	DeliveryID    string // which is this
}

func (r *request) showVerify() error { return r.renderVerify(&verifyPage{}) }

// verifyRequest looks at what was pasted. It changes nothing.
func (r *request) verifyRequest() error {
	form := r.HTTP.PostForm
	return r.renderVerify(&verifyPage{
		Headers: form.Get("headers"), Body: form.Get("body"), Received: form.Get("received"),
		Encoded: form.Get("encoded") != "", Report: &diagnose.Report{},
	})
}

func (r *request) renderVerify(p *verifyPage) error {
	var c diagnose.Case
	err := r.view(func(tx store.Tx) (err error) {
		if p.Endpoint, err = r.endpoint(tx); err != nil || p.Report == nil {
			return err
		}
		if c, err = p.read(r.now); err != nil {
			return err
		}
		if c.Signers, err = r.signers(tx, p.Endpoint, c.ReceivedAt); err != nil {
			return err
		}
		c.Sent, err = r.sentBody(tx, p)
		return err
	})
	if e, ok := formError(err); ok {
		p.Err, p.Report = e, nil
		return r.render(e.Code.Status(), "endpoint_verify", p)
	}
	if err != nil {
		return err
	}
	if p.Report != nil {
		*p.Report = c.Diagnose()
	}
	return r.render(200, "endpoint_verify", p)
}

// read reads the form. Without a time of receipt the request came now.
func (p *verifyPage) read(now time.Time) (c diagnose.Case, err error) {
	c = diagnose.Case{Headers: p.Headers, ReceivedAt: now}
	if p.Received != "" {
		var ok bool
		if c.ReceivedAt, ok = parseInput(p.Received); !ok {
			return c, store.Invalid("received", "Enter a date and time in UTC, or leave the field empty.")
		}
	}
	if !p.Encoded {
		c.Body = []byte(strings.ReplaceAll(p.Body, "\r\n", "\n")) // a browser sends each line end so
		return c, nil
	}
	if c.Body, err = base64.StdEncoding.DecodeString(strings.Join(strings.Fields(p.Body), "")); err != nil {
		return c, store.Invalid("body", "The body is not in standard, padded base64.")
	}
	return c, nil
}

// signers are the endpoint's secrets, and those it is mistaken for: of the org's
// other endpoints.
func (r *request) signers(tx store.Tx, e store.Endpoint, at time.Time) ([]diagnose.Signer, error) {
	signers := []diagnose.Signer{{Name: "the endpoint's secret", Secret: e.Secret, Valid: true}}
	if e.OldSecret != "" {
		old := diagnose.Signer{Name: "the old secret, which signs until " + formatTime(e.OldSecretUntil), Secret: e.OldSecret, Valid: len(e.Secrets(at)) > 1}
		if !old.Valid {
			old.Name = "the old secret, which signed until " + formatTime(e.OldSecretUntil)
		}
		signers = append(signers, old)
	}
	others, err := tx.Endpoints(r.org.ID)
	for _, o := range others {
		if o.ID != e.ID && o.Secret != e.Secret {
			signers = append(signers, diagnose.Signer{Name: "the secret of another endpoint, " + o.ID, Secret: o.Secret})
		}
	}
	return signers, err
}

// sentBody is what was sent under the webhook-id; nil when this endpoint has no
// such delivery.
func (r *request) sentBody(tx store.Tx, p *verifyPage) ([]byte, error) {
	p.DeliveryID = diagnose.WebhookID(p.Headers)
	d, e, err := store.FindDelivery(tx, r.org.ID, p.DeliveryID)
	if store.IsNotFound(err) || err == nil && e.Number != p.Number {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	p.Known = true
	event, err := tx.Event(d.EventID)
	return event.Body, err
}
