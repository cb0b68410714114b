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
// for most of the time, and two while the second replaces the first.
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

// Due reports whether there are none, one has expired, or the last one has no more
// than two years left.
func (a Authorities) Due(now time.Time) bool {
	return len(a) == 0 || !now.Before(a[0].NotAfter()) || !now.Add(announceBefore).Before(a[len(a)-1].NotAfter())
}

// Rotate returns the authorities to trust from now on: without those that have
// expired, and with a new one, named as [NewCA] says, when none is left or the last has
// no more than two years left.
func (a Authorities) Rotate(now time.Time, name string) (Authorities, error) {
	next := slices.DeleteFunc(slices.Clone(a), func(ca *CA) bool { return !now.Before(ca.NotAfter()) })
	if !next.Due(now) {
		return next, nil
	}
	ca, err := NewCA(now, name)
	if err != nil {
		return nil, err
	}
	return append(next, ca), nil
}

// Issuer is the authority that leaves come from at now: the oldest that has more
// than a year left, or else the last. There must be one.
func (a Authorities) Issuer(now time.Time) *CA {
	for _, ca := range a {
		if now.Add(switchBefore).Before(ca.NotAfter()) {
			return ca
		}
	}
	return a[len(a)-1]
}
