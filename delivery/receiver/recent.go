package receiver

import "crypto/sha256"

// maxRecent is how many ids are remembered, by their hashes: an id is as long
// as its sender likes.
const maxRecent = 10_000

// recent remembers the latest ids, in memory that is bounded.
type recent struct {
	known map[[sha256.Size]byte]bool
	order [][sha256.Size]byte // a ring once it is full
	next  int                 // the oldest in a full ring
}

// add tells whether it knew the id already, and knows it from now on.
func (r *recent) add(id string) (again bool) {
	hash := sha256.Sum256([]byte(id))
	if r.known[hash] {
		return true
	}
	if r.known == nil {
		r.known = make(map[[sha256.Size]byte]bool)
	}
	r.known[hash] = true
	if len(r.order) < maxRecent {
		r.order = append(r.order, hash)
		return false
	}
	delete(r.known, r.order[r.next])
	r.order[r.next] = hash
	r.next = (r.next + 1) % maxRecent
	return false
}
