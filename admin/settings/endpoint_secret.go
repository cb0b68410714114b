package settings

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"teamdata/admin/settings/diagnose"
	"teamdata/store"
)

// secretPage shows an endpoint's secrets, or asks how to rotate them.
type secretPage struct {
	store.Endpoint
	Both     bool         // the old secret also signs
	Err      *store.Error // nil: nothing is wrong
	Overlap  string       // the value of the choice
	Overlaps []overlap
	Own      bool // the person brings the secret
}

// overlap is a choice of how long the old secret also signs.
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

// overlapOf is the duration of a choice.
func overlapOf(value string) (time.Duration, error) {
	for _, o := range overlaps {
		if o.Value == value {
			return o.duration, nil
		}
	}
	return 0, store.Invalid("overlap", "Choose when the old secret stops signing.")
}

func (r *request) showSecret() error {
	if err := r.auditSecretShown(); err != nil {
		return err
	}
	return r.renderSecrets(200, "endpoint_secret", secretPage{})
}

// auditSecretShown records that the person sees the secret of the endpoint of the path.
func (r *request) auditSecretShown() error {
	return r.viewAudited(func(tx store.Tx) error {
		_, err := store.ShowSecret(tx, r.actor(), r.Org.ID, r.Param("endpoint"))
		return err
	})
}

func (r *request) showRotate() error {
	return r.renderSecrets(200, "endpoint_rotate", secretPage{Overlap: "24h"})
}

// rotateSecret leads to the new secret. A form that is sent twice rotates once: the
// second rotation would end the secret that receivers have.
func (r *request) rotateSecret() error {
	_, _, err := r.ChangeOnce(func(tx store.Tx) (string, error) {
		overlap, err := overlapOf(r.Field("overlap"))
		if err == nil {
			err = r.checkOwnSecret()
		}
		if err != nil {
			return "", err
		}
		_, err = store.RotateSecret(tx, r.actor(), r.Org.ID, r.Param("endpoint"), r.ownSecret(), overlap)
		return "", err
	})
	if err != nil {
		return r.OnForm(err, func(status int, e *store.Error) error {
			return r.renderSecrets(status, "endpoint_rotate", secretPage{Err: e, Overlap: r.Field("overlap"), Own: r.bringsSecret(e)})
		})
	}
	return r.Done("secret-rotated", r.endpointPath("secret"))
}

// renderSecrets fills in the endpoint of the path.
func (r *request) renderSecrets(status int, page string, p secretPage) error {
	p.Overlaps = overlaps
	return r.Show(status, page, &p, func(tx store.Tx) (err error) {
		p.Endpoint, err = r.endpoint(tx)
		p.Both = len(p.Secrets(r.Now)) > 1
		return err
	})
}

// verifyPage checks a request that the developer of a receiver has pasted.
type verifyPage struct {
	store.Endpoint
	Err           *store.Error // nil: nothing is wrong
	Headers, Body string
	Received      string // in the form of a datetime-local input, in UTC
	Then          bool   // that counts, and not the present time
	Encoded       bool   // the body is in base64
	Report        *diagnose.Report
	Reason        string               // why it verifies or doesn't
	Difference    *diagnose.Difference // between the bodies; nil: there is none, or it is not known
	ReceivedAt    time.Time            // that the report counts with
	Known         bool                 // the webhook-id is that of a delivery to this endpoint,
	DeliveryID    string               // which is this
	Latest        *store.Delivery      // the one to try it with; nil: there is none, or the form is filled in
}

// showVerify shows the form, filled in with the delivery that the query names as it was
// sent last.
func (r *request) showVerify() error {
	p := verifyPage{DeliveryID: r.HTTP.URL.Query().Get("delivery")}
	err := r.View(func(tx store.Tx) (err error) {
		if p.Endpoint, err = r.endpoint(tx); err != nil {
			return err
		}
		if p.DeliveryID != "" {
			return p.fillIn(tx)
		}
		latest, err := tx.LatestDeliveries([]uint64{p.Number}, []store.DeliveryList{store.ListAttempted, store.ListFailed, store.ListAcknowledged}, store.Cursor{}, 1)
		if len(latest) > 0 {
			p.Latest = &latest[0]
		}
		return err
	})
	if err != nil {
		return err
	}
	return r.renderVerify(&p)
}

// fillIn fills in the delivery of the page as it was sent last.
func (p *verifyPage) fillIn(tx store.Tx) error {
	d, e, err := store.FindDelivery(tx, p.OrgID, p.DeliveryID)
	if err != nil || e.Number != p.Number || d.LastAttempt() == nil {
		return cmp.Or[error](err, errNoPage)
	}
	event, err := tx.Event(d.EventID)
	if err != nil {
		return err
	}
	at := d.LastAttempt().StartedAt
	headers, err := signedHeaders(deliveryRow{Delivery: d, Endpoint: &e}, at, event.Body)
	p.Headers, p.Body, p.Then, p.Received = strings.Join(headers, "\n"), string(event.Body), true, at.UTC().Format("2006-01-02T15:04:05")
	return err
}

// verifyRequest checks the pasted request, and records the first time that a request to the
// endpoint verifies.
func (r *request) verifyRequest() error {
	p := r.verifyOfForm()
	p.Report = &diagnose.Report{}
	return r.renderVerify(p)
}

// verifyOfForm is what the form holds.
func (r *request) verifyOfForm() *verifyPage {
	p := &verifyPage{Headers: r.Field("headers"), Body: r.Field("body"), Received: r.Field("received"), Encoded: r.Field("encoded") != ""}
	p.Then = r.Field("when") == "then" || r.Field("when") == "" && p.Received != ""
	return p
}

func (r *request) recordVerified(p *verifyPage) error {
	if !p.Report.Verifies || !p.Known || !p.VerifiedAt.IsZero() {
		return nil
	}
	return r.viewAudited(func(tx store.Tx) error { return store.NoteVerified(tx, r.Org.ID, p.ID) })
}

func (r *request) renderVerify(p *verifyPage) error {
	var c diagnose.Case
	err := r.View(func(tx store.Tx) (err error) {
		if p.Endpoint, err = r.endpoint(tx); err != nil || p.Report == nil {
			return err
		}
		if c, err = p.read(r.Now); err != nil {
			return err
		}
		if c.Signers, err = r.signers(tx, p.Endpoint, c.ReceivedAt); err != nil {
			return err
		}
		c.Sent, err = r.sentBody(tx, p)
		return err
	})
	if err != nil {
		return r.OnForm(err, func(status int, e *store.Error) error {
			p.Err, p.Report = e, nil
			return r.Render(status, "endpoint_verify", p)
		})
	}
	if p.Report != nil {
		*p.Report, p.Difference, p.ReceivedAt = c.Diagnose(), c.Difference(), c.ReceivedAt
		p.Reason = p.Report.Reason()
		if body := c.CheckBody(); body != nil {
			p.Report.Checks = slices.Insert(p.Report.Checks, len(p.Report.Checks)-1, *body)
		}
		slices.SortStableFunc(p.Report.Checks, func(a, b diagnose.Check) int { return cmp.Compare(failed(a), failed(b)) })
		if err := r.recordVerified(p); err != nil {
			return err
		}
	}
	return r.Render(200, "endpoint_verify", p)
}

// failed is 1 for a check that failed, which comes after those that passed.
func failed(c diagnose.Check) int {
	if c.OK {
		return 0
	}
	return 1
}

// read reads the form. The default of the time of receipt is now.
func (p *verifyPage) read(now time.Time) (c diagnose.Case, err error) {
	c = diagnose.Case{Headers: p.Headers, ReceivedAt: now}
	if p.Then && p.Received != "" {
		if c.ReceivedAt, _, err = parseTime("received", p.Received, time.UTC, now); err != nil {
			return c, store.Invalid("received", "Enter a date and time in UTC, or leave the field empty.")
		}
	}
	if !p.Encoded {
		c.Body = []byte(strings.ReplaceAll(p.Body, "\r\n", "\n")) // browsers send all line endings like this
		return c, nil
	}
	if c.Body, err = base64.StdEncoding.DecodeString(strings.Join(strings.Fields(p.Body), "")); err != nil {
		return c, store.Invalid("body", "The body is not in standard, padded base64.")
	}
	return c, nil
}

// signers are the endpoint's secrets, and the secrets of the org's other endpoints, which
// may be used by mistake.
func (r *request) signers(tx store.Tx, e store.Endpoint, at time.Time) ([]diagnose.Signer, error) {
	signers := []diagnose.Signer{{Name: "the endpoint's secret", Secret: e.Secret, Valid: true}}
	if e.OldSecret != "" {
		old := diagnose.Signer{Name: "the old secret, which signs until " + formatTime(e.OldSecretUntil), Secret: e.OldSecret, Valid: len(e.Secrets(at)) > 1}
		if !old.Valid {
			old.Name = "the old secret, which signed until " + formatTime(e.OldSecretUntil)
		}
		signers = append(signers, old)
	}
	others, err := tx.Endpoints(r.Org.ID)
	for _, o := range others {
		if o.ID != e.ID && o.Secret != e.Secret {
			signers = append(signers, diagnose.Signer{Name: "the secret of another endpoint, " + o.ID, Secret: o.Secret})
		}
	}
	return signers, err
}

// sentBody is the body that was sent with the webhook-id; nil when there is no such
// delivery to this endpoint.
func (r *request) sentBody(tx store.Tx, p *verifyPage) ([]byte, error) {
	p.DeliveryID = diagnose.WebhookID(p.Headers)
	d, e, err := store.FindDelivery(tx, r.Org.ID, p.DeliveryID)
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
