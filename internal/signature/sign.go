package signature

import (
	"hash"
	"strconv"
)

// signer is the state for one signature at a time.
type signer struct {
	mac     hash.Hash
	scratch []byte
}

// Sign appends the value of the webhook-signature header to dst: for each
// secret "v1," and the base64 of its signature, with one space between, as
// receivers split it. Two secrets are for the time of a rotation.
//
// The id is the webhook-id header and must hold no period, which would let two
// messages share a signature. The timestamp is the webhook-timestamp header,
// in seconds since 1970. The body is signed as the bytes that are sent.
//
// With no secrets dst is returned as it is. A zero Secret panics.
func Sign(dst []byte, id string, timestamp int64, body []byte, secrets ...Secret) []byte {
	for i, secret := range secrets {
		if i > 0 {
			dst = append(dst, ' ')
		}
		s := secret.pool.Get().(*signer)
		dst = append(dst, "v1,"...)
		dst = encoding.AppendEncode(dst, s.sum(id, timestamp, body))
		secret.pool.Put(s)
	}
	return dst
}

// sum's answer is valid until the next sum.
func (s *signer) sum(id string, timestamp int64, body []byte) []byte {
	head := append(s.scratch[:0], id...)
	head = append(head, '.')
	head = strconv.AppendInt(head, timestamp, 10)
	head = append(head, '.')
	s.mac.Reset()
	s.mac.Write(head)
	s.mac.Write(body)
	s.scratch = s.mac.Sum(head[:0])
	return s.scratch
}
