// Package diagnose explains why a webhook does not verify: which of a receiver's
// checks fails, and what most likely changed the request on its way. It knows the
// headers and the format of [Standard Webhooks], and treats all input as
// untrusted.
//
// [Standard Webhooks]: https://www.standardwebhooks.com
package diagnose

import (
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
}

// Check is one check of a receiver.
type Check struct {
	Name string // such as "webhook-id"
	OK   bool
	Text string // how it came out, one line
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
		r.Checks = append(r.Checks, c.checkMatch(h))
	} else {
		r.Checks = append(r.Checks, Check{Name: "match", Text: "Not checked: fix the headers first."})
	}
	r.Verifies = !slices.ContainsFunc(r.Checks, func(check Check) bool { return !check.OK })
	return r
}

// message is the signed message.
type message struct {
	id, timestamp string   // isSeconds
	given         []string // signatures, without "v1,"
}

// checkMatch finds the secret that made one of the signatures, or else what
// changed the request.
func (c Case) checkMatch(h headers) Check {
	m := message{id: h.value("webhook-id"), timestamp: h.value("webhook-timestamp"), given: wellFormed(h.value("webhook-signature"))}
	for _, s := range c.Signers {
		if !m.signedBy(s, c.Body) {
			continue
		}
		if s.Valid {
			return Check{"match", true, "The signature was made with " + s.Name + ", over this body."}
		}
		return Check{"match", false, "The signature was made with " + s.Name + "."}
	}
	c.Signers = slices.DeleteFunc(slices.Clone(c.Signers), func(s Signer) bool { return !s.Valid }) // there may be many
	return Check{"match", false, cmp.Or(c.changedBody(m), c.otherSigning(m), c.otherBody(),
		"No signature matches. Either the secret is a different one, or the body, the webhook-id or the webhook-timestamp is not what was signed.")}
}

// signedBy reports whether a signer made one of the signatures over a body.
func (m message) signedBy(s Signer, body []byte) bool {
	secret, err := signature.ParseSecret(s.Secret)
	if err != nil {
		return false
	}
	return m.hasSignature(string(signature.Sign(nil, m.id, seconds(m.timestamp), body, secret))[len("v1,"):])
}
