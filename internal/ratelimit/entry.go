package ratelimit

// entry is what is remembered of one id.
type entry[K comparable] struct {
	id         K
	times      ring
	prev, next *entry[K]
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

// ringMin is the first size of a ring. Most addresses of a flood never need
// another.
const ringMin = 4

// ring is a queue of acceptance times, which only rise. Its size follows what
// it holds and never exceeds the limit.
type ring struct {
	buf  []int64
	head int // place of the oldest time
	n    int // number of times held
}

// oldest and newest must not be asked of an empty ring.
func (r *ring) oldest() int64 { return r.buf[r.head] }

func (r *ring) newest() int64 { return r.buf[r.place(r.n-1)] }

// place returns where the i-th oldest time is.
func (r *ring) place(i int) int {
	i += r.head
	if i >= len(r.buf) {
		i -= len(r.buf)
	}
	return i
}

// expire drops the times that are a window or more before t.
func (r *ring) expire(t, window int64) {
	for r.n > 0 && t-r.oldest() >= window {
		r.head = r.place(1)
		r.n--
	}
}

// push adds t to a ring that holds less than limit. It doubles a full buffer
// and cuts down one that a burst has left; between the two are so many
// pushes or drops that copying costs nothing per push.
func (r *ring) push(t int64, limit int) {
	if r.n == len(r.buf) || r.n < len(r.buf)/8 {
		r.resize(min(max(2*r.n, ringMin), limit))
	}
	r.buf[r.place(r.n)] = t
	r.n++
}

func (r *ring) resize(size int) {
	buf := make([]int64, size)
	first := copy(buf, r.buf[r.head:min(r.head+r.n, len(r.buf))])
	copy(buf[first:], r.buf[:r.n-first])
	r.buf, r.head = buf, 0
}
