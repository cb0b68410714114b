package store

import (
	"crypto/rand"
	"encoding/binary"
	"strings"
	"time"
)

// Prefixes of the ids that teamdata assigns.
const (
	PrefixOrg          = "org_"
	PrefixMember       = "mem_"
	PrefixAudit        = "aud_"
	PrefixAPIKey       = "key_"
	PrefixEndpoint     = "whe_"
	PrefixEvent        = "evt_"
	PrefixDelivery     = "whd_"
	PrefixSubscription = "sub_"
	PrefixFile         = "fil_"
	PrefixMail         = "mai_"
	PrefixOperator     = "opr_"
	PrefixSession      = "ses_"
	PrefixSignInLink   = "sil_"
	PrefixReplay       = "rpl_"
	PrefixLease        = "lse_"
	PrefixUser         = "usr_" // of people who are invited; others bring an id of their own
)

const maxIDLength = 64

// ValidID reports whether a supplied id is 1 to 64 of A-Z a-z 0-9 _ and -. No id
// contains a period, so `<id>.<secret>` splits at the first one.
func ValidID(id string) bool {
	return id != "" && len(id) <= maxIDLength && !strings.ContainsFunc(id, notInID)
}

func notInID(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
}

const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// IDSource generates increasing ids in ULID form: a prefix and 26 characters of
// Crockford base32 that encode 48 bits of Unix milliseconds and 80 bits that
// start at random and increase within a millisecond. When the clock steps back,
// ids continue from the last millisecond. The zero value is ready to use. It is
// not safe for concurrent use: the writer of an engine owns it.
type IDSource struct {
	ms   uint64
	high uint16 // the upper 16 of the 80 bits
	low  uint64 // the lower 64
}

// Next returns a new id, greater than all earlier ones with the same prefix.
func (s *IDSource) Next(prefix string, now time.Time) string {
	if ms := uint64(now.UnixMilli()); ms > s.ms {
		s.ms = ms
		s.reseed()
	} else {
		s.rise(1)
	}
	var id [30]byte
	n := copy(id[:], prefix)
	s.encode(id[n : n+26])
	return string(id[:n+26])
}

// Follow makes all later ids greater than id, if an IDSource generated that.
// Other text is ignored. Two sources that follow the same id make different ones.
// Their time does not run ahead by that, however often they follow each other.
func (s *IDSource) Follow(id string) {
	at, ok := sourceAt(id)
	if !ok || at.ms < s.ms {
		return
	}
	if at.ms > s.ms || at.high > s.high || at.high == s.high && at.low >= s.low {
		*s = at
		var b [8]byte
		rand.Read(b[:])
		s.rise(binary.BigEndian.Uint64(b[:])) // so far that no other source makes the same
	}
}

// sourceAt returns an IDSource that has just generated an id; ok is false for other text.
func sourceAt(id string) (s IDSource, ok bool) {
	if s.ms, ok = IDTime(id); !ok {
		return s, false
	}
	var high uint64
	for _, c := range []byte(id[len(id)-16:]) {
		high, s.low = high<<5|s.low>>59, s.low<<5|uint64(max(strings.IndexByte(crockford, c), 0))
	}
	s.high = uint16(high)
	return s, true
}

// idAfter returns the id that an IDSource generates right after another one within the
// same millisecond, with a prefix; empty for other text.
func idAfter(id, prefix string) string {
	s, ok := sourceAt(id)
	if !ok {
		return ""
	}
	return s.Next(prefix, time.UnixMilli(0))
}

// IDTime returns the time of an id that an IDSource generated, in Unix
// milliseconds; ok is false for other text.
func IDTime(id string) (ms uint64, ok bool) {
	if len(id) < 26 {
		return 0, false
	}
	for _, c := range []byte(id[len(id)-26:][:10]) { // 10 characters hold the 48 bits
		digit := strings.IndexByte(crockford, c)
		if digit < 0 {
			return 0, false
		}
		ms = ms<<5 | uint64(digit)
	}
	return ms, true
}

func (s *IDSource) reseed() {
	var b [10]byte
	rand.Read(b[:]) // never fails: it crashes the program if there is no randomness
	s.high = binary.BigEndian.Uint16(b[:]) >> 1
	s.low = binary.BigEndian.Uint64(b[2:])
}

func (s *IDSource) rise(by uint64) {
	if s.low += by; s.low < by {
		if s.high++; s.high == 0 {
			s.ms++
		}
	}
}

func (s *IDSource) encode(out []byte) {
	hi := s.ms<<16 | uint64(s.high) // the 128 bits are hi, low
	lo := s.low
	for i := 25; i >= 0; i-- {
		out[i] = crockford[lo&31]
		lo = lo>>5 | hi<<59
		hi >>= 5
	}
}
