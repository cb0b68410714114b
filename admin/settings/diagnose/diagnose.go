// Package diagnose explains why a webhook does not verify: which of a receiver's
// checks fails, and what most likely changed the request on its way. It knows the
// headers and the format of [Standard Webhooks], and treats all input as
// untrusted.
//
// [Standard Webhooks]: https://www.standardwebhooks.com
package diagnose

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"teamdata/internal/signature"
)

// Tolerance is how far the timestamp may be from the time of receipt.
const Tolerance = 5 * time.Minute

// Case is a request as its receiver got it, and its possible signers.
type Case struct {
	Headers    string    // one per line, such as "webhook-id: whd_1", or as a program prints them; others are ignored
	Body       []byte    // as the receiver verifies it
	ReceivedAt time.Time // by the receiver's clock
	Sent       []byte    // the body that was sent under its webhook-id; nil: that is not known
	Signers    []Signer  // the first is the endpoint itself; the others show whose secret was used by mistake
}

// Signer is a secret, and what to call it.
type Signer struct {
	Name   string // such as "the endpoint's secret"
	Secret string // "whsec_…"; it is not shown
	Valid  bool   // a receiver may accept it
}

// Report is the result. It contains no part of a secret, and no signature that
// was not in the case.
type Report struct {
	Verifies bool // every check passed: a receiver accepts the request
	Checks   []Check
	Fix      string // what to do when it doesn't verify; may be empty
}

// Reason is how the first check that failed came out; or, when the request verifies, how the last
// one did.
func (r Report) Reason() string {
	for _, check := range r.Checks {
		if !check.OK {
			return check.Text
		}
	}
	return r.Checks[len(r.Checks)-1].Text
}

// NeedsRawBody reports whether the receiver has to verify the bytes as they arrived.
func (r Report) NeedsRawBody() bool { return r.Fix == fixBody }

// Check is one check of a receiver.
type Check struct {
	Name  string // such as "webhook-id"
	OK    bool
	Text  string // how it came out, one line
	Short string // the same in a few words, beside a place that has the Text; may be empty
}

// Diagnose makes all checks, even after one that fails, so that the report has everything
// that is wrong.
func (c Case) Diagnose() Report {
	h := readHeaders(c.Headers)
	id := h.check("webhook-id", checkID)
	at := h.check("webhook-timestamp", c.checkTimestamp)
	given := h.check("webhook-signature", checkSignature)
	r := Report{Checks: []Check{id, at, given}}
	if id.OK && given.OK && isSeconds(h.value("webhook-timestamp")) {
		check, fix := c.checkMatch(h)
		r.Checks, r.Fix = append(r.Checks, check), fix
	} else {
		r.Checks = append(r.Checks, Check{Name: "match", Text: "Not checked: fix the headers first."})
	}
	switch { // in the order of the checks, as Reason has it
	case !id.OK, !at.OK && !isSeconds(h.value("webhook-timestamp")):
		r.Fix = fixHeaders
	case !at.OK:
		r.Fix = fixClock
	case !given.OK:
		r.Fix = fixHeaders
	}
	r.Verifies = !slices.ContainsFunc(r.Checks, func(check Check) bool { return !check.OK })
	return r
}

// message is the signed message.
type message struct {
	id, timestamp string   // isSeconds
	given         []string // signatures, without "v1,"
}

// What to do about the headers, and when no signature matches.
const (
	fixHeaders = "Paste the three headers as they came. A proxy or a framework may leave some out, or change them."
	fixClock   = "Compare the clock of the receiving machine with ours, and verify when a request comes, not later."
	fixBody    = "Verify the bytes as they arrived, before a JSON parser reads them."
	fixSecret  = "Give the receiver the secret of this endpoint."
	fixSigning = "Compute the signature as the samples do, or with a library of Standard Webhooks."
)

// checkMatch finds the secret that made one of the signatures, or else what
// changed the request and what to do about it.
func (c Case) checkMatch(h headers) (check Check, fix string) {
	m := message{id: h.value("webhook-id"), timestamp: h.value("webhook-timestamp"), given: wellFormed(h.value("webhook-signature"))}
	for _, s := range c.Signers {
		if !m.signedBy(s, c.Body) {
			continue
		}
		if s.Valid {
			return Check{"match", true, "The signature was made with " + s.Name + ", over this body.", "Yes, with " + s.Name + "."}, ""
		}
		return Check{"match", false, "The signature was made with " + s.Name + ".", "No: another secret made it."}, fixSecret
	}
	c.Signers = slices.DeleteFunc(slices.Clone(c.Signers), func(s Signer) bool { return !s.Valid }) // there may be many
	body, signing, other := c.changedBody(m), c.otherSigning(m), c.otherBody()
	short := "No signature matches this body."
	switch {
	case body != "":
		fix, short = fixBody, "No: it was made over another body."
	case signing != "":
		fix, short = fixSigning, "No: it was computed in another way."
	case other != "" && !bytes.Equal(c.Sent, c.Body):
		fix = fixBody
	}
	return Check{"match", false, cmp.Or(body, signing, other,
		"No signature matches. Either the secret is a different one, or the body, the webhook-id or the webhook-timestamp is not what was signed."), short}, fix
}

// signedBy reports whether a signer made one of the signatures over a body.
func (m message) signedBy(s Signer, body []byte) bool {
	secret, err := signature.ParseSecret(s.Secret)
	if err != nil {
		return false
	}
	return m.hasSignature(string(signature.Sign(nil, m.id, seconds(m.timestamp), body, secret))[len("v1,"):])
}
