package ratelimit

// entry is what is known of one id.
type entry[K comparable] struct {
	id         K
	times      ring
	prev, next *entry[K]
}

func newEntry[K comparable](id K) *entry[K] {
	e := &entry[K]{id: id}
	e.prev, e.next = e, e
	return e
}

// recency lists entries from the most to the least recently accepted one. It
// is a circle closed by root, which holds no id; the links are inside the
// entries, so that an id costs one allocation less than with a list of its own.
type recency[K comparable] struct {
	root entry[K]
}

func (r *recency[K]) init() {
	r.root.prev, r.root.next = &r.root, &r.root
}

// last returns the least recently accepted entry, nil if there is none.
func (r *recency[K]) last() *entry[K] {
	if r.root.prev == &r.root {
		return nil
	}
	return r.root.prev
}

func (r *recency[K]) moveToFront(e *entry[K]) {
	r.unlink(e)
	e.prev, e.next = &r.root, r.root.next
	e.prev.next, e.next.prev = e, e
}

func (r *recency[K]) unlink(e *entry[K]) {
	e.prev.next, e.next.prev = e.next, e.prev
	e.prev, e.next = e, e
}
