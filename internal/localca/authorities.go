package localca

import (
	"bytes"
	"encoding/pem"
	"slices"
	"time"
)

const (
	// announceBefore is when a successor is made: clients have a year to trust it
	// before it issues the first leaf.
	announceBefore = 2 * 365 * 24 * time.Hour

	// switchBefore is when the successor begins to issue leaves. An authority that
	// issues until then issues no leaf that outlives it by much.
	switchBefore = 365 * 24 * time.Hour
)

// Authorities are the authorities that clients should trust, oldest first: one
// for most of the time, and two while the second replaces the first. Beside them there
// may be one that is not valid yet, as the clock was ahead when it was made, or is behind
// now. That can't be told apart, so clients go on trusting it.
type Authorities []*CA

// ParseAuthorities reads what [Authorities.PEM] returned, or [CA.PEM]. It fails
// where [ParseCA] does, and when there is none.
func ParseAuthorities(text []byte) (Authorities, error) {
	var all Authorities
	for first := true; first || len(bytes.TrimSpace(text)) > 0; first = false {
		one, rest := cutPair(text)
		ca, err := ParseCA(one)
		if err != nil {
			return nil, err
		}
		all, text = append(all, ca), rest
	}
	return all, nil
}

// cutPair cuts after the first two blocks: a certificate and its key.
func cutPair(text []byte) (pair, rest []byte) {
	rest = text
	for range 2 {
		if block, after := pem.Decode(rest); block != nil {
			rest = after
		}
	}
	if len(rest) == len(text) {
		return text, nil
	}
	return text[:len(text)-len(rest)], rest
}

// PEM returns the certificates and the private keys: secret.
func (a Authorities) PEM() []byte { return a.join((*CA).PEM) }

// CertificatePEM returns the certificates alone, for clients to trust.
func (a Authorities) CertificatePEM() []byte { return a.join((*CA).CertificatePEM) }

func (a Authorities) join(text func(*CA) []byte) (all []byte) {
	for _, ca := range a {
		all = append(all, text(ca)...)
	}
	return all
}

// Valid returns those that clients accept at now.
func (a Authorities) Valid(now time.Time) Authorities {
	return slices.DeleteFunc(slices.Clone(a), func(ca *CA) bool { return ca.check(now) != nil })
}

// Due reports whether none is valid, one has expired, or the last one that is valid has
// no more than two years left.
func (a Authorities) Due(now time.Time) bool {
	valid := a.Valid(now)
	return len(valid) == 0 || slices.ContainsFunc(a, func(ca *CA) bool { return ca.expired(now) }) ||
		!now.Add(announceBefore).Before(valid[len(valid)-1].NotAfter())
}

// Rotate returns the authorities to trust from now on: without those that have
// expired, and with a new one, named as [NewCA] says, when none of the others is valid or
// the last that is has no more than two years left.
func (a Authorities) Rotate(now time.Time, name string) (Authorities, error) {
	next := slices.DeleteFunc(slices.Clone(a), func(ca *CA) bool { return ca.expired(now) })
	if !next.Due(now) {
		return next, nil
	}
	ca, err := NewCA(now, name)
	if err != nil {
		return nil, err
	}
	return append(next, ca), nil
}

// Issuer is the authority that leaves come from at now: the oldest valid one that has
// more than a year left, or else the last valid one. There must be an authority; where
// none is valid, it is the last.
func (a Authorities) Issuer(now time.Time) *CA {
	if valid := a.Valid(now); len(valid) > 0 {
		a = valid
	}
	for _, ca := range a {
		if now.Add(switchBefore).Before(ca.NotAfter()) {
			return ca
		}
	}
	return a[len(a)-1]
}
