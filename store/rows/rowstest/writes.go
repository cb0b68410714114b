package rowstest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"teamdata/store/rows"
)

// Few ids, so that histories meet.
const (
	jobs   = 12
	queues = 3
	users  = 5
)

// many are as many tickets as fill some pages of an engine.
const many = 400

var orgs = []string{"o", "o-", "oo"}

func (h *history) jobID() string  { return fmt.Sprint("j", h.IntN(jobs)) }
func (h *history) ticket() uint64 { return uint64(h.IntN(12) + many*h.IntN(2)) }
func (h *history) queue() uint64  { return uint64(h.IntN(queues)) << (20 * h.IntN(2)) }
func (h *history) userKey() []byte {
	return rows.Pair(nil, orgs[h.IntN(len(orgs))], fmt.Sprint("u", h.IntN(users)))
}

// at is one of few times.
func (h *history) at() time.Time { return time.UnixMilli(int64(1000 + h.IntN(6)<<h.IntN(20))).UTC() }

// text is mostly short, and at times longer than what memory is taken for at once.
func (h *history) text() string {
	size := []int{0, 1, 5, 5, 200}[h.IntN(5)]
	if h.IntN(30) == 0 {
		if size = h.IntN(20000); size%50 == 0 {
			size *= 20
		}
	}
	return strings.Repeat(string(rune('a'+h.IntN(26))), size)
}

func (h *history) job() Job {
	j := Job{ID: h.jobID(), Owner: h.text(), Queue: h.queue(), Done: h.IntN(3) == 0, Due: h.at(), Note: h.text()}
	if h.IntN(2) == 0 {
		j.TriedAt = h.at()
	}
	return j
}

func (h *history) user() User {
	u := User{Name: []string{"Ada", "Bob", "Bob\xff"}[h.IntN(3)], Password: h.text(), Token: h.text()}
	key := h.userKey()
	if Users.Complete(key, &u); h.IntN(3) > 0 {
		u.Email = fmt.Sprintf("%s%d%s@Example.com", u.Org, h.IntN(2), u.ID) // nobody else's
	}
	return u
}

// write draws an operation that writes.
func (h *history) write() operation {
	switch h.IntN(14) {
	case 12, 13:
		return h.writeVisit()
	case 0:
		if h.IntN(8) == 0 {
			return h.fill()
		}
		return operation{"take a ticket", takeTicket}
	case 1:
		return drop(h, Tickets, rows.Number(nil, h.ticket()))
	case 2:
		n := h.ticket()
		return put(h, Tickets, &n)
	case 3:
		return h.dropFirst()
	case 4, 5:
		return drop(h, Jobs, []byte(h.jobID()))
	case 6:
		return drop(h, Users, h.userKey())
	case 7, 8:
		u := h.user()
		return put(h, Users, &u)
	default:
		j := h.job()
		return put(h, Jobs, &j)
	}
}

// takeTicket adds a row under the next number.
func takeTicket(w *work) (string, error) {
	if c := w.chosen; !c.engine {
		n := c.numbers[0]
		c.numbers = c.numbers[1:]
		return fmt.Sprint(n), Tickets.Put(w.Tx, &n)
	}
	n, err := w.Next(&Tickets.Kind)
	w.chosen.numbers = append(w.chosen.numbers, n)
	if err != nil {
		return "", err
	}
	return fmt.Sprint(n), Tickets.Put(w.Tx, &n)
}

// fill adds many tickets in a row, and drops some that are. Then it looks for what comes
// before those, which an engine finds behind pages that this transaction has emptied.
func (h *history) fill() operation {
	first := uint64(many * h.IntN(3))
	from, put := uint64(h.IntN(2*many)), h.IntN(2) == 0
	to := from + uint64(h.IntN(many))
	return operation{fmt.Sprintf("tickets from %d on, put: %v, and dropped from %d to %d", first, put, from, to), func(w *work) (string, error) {
		for n := first; put && n < first+many; n++ {
			if err := Tickets.Put(w.Tx, &n); err != nil {
				return "", err
			}
		}
		for n := from; n < to; n++ {
			key := rows.Number(nil, n)
			w.dropped[Tickets.Name+string(key)] = true
			if err := Tickets.Drop(w.Tx, key); err != nil {
				return "", err
			}
		}
		before := rows.Range{Index: rows.ByKey, Bounds: rows.Bounds{To: rows.Number(nil, to)}, Back: true, Limit: 2}
		found, err := scan(&Tickets.Kind, before, 0).run(w)
		last, errLast := w.Last(&Tickets.Kind, rows.ByKey, nil)
		return fmt.Sprintf("%s, the last is %q", found, last), errors.Join(err, errLast)
	}}
}

// put writes a record in one of the ways that a Table has for it.
func put[T any](h *history, in *rows.Table[T], v *T) operation {
	key, way := in.Key(nil, v), h.IntN(3)
	name := fmt.Sprintf("%s %s %.300q", []string{"put", "put or insert", "put or replace"}[way], in.Name, fmt.Sprint(*v))
	return operation{name, func(w *work) (string, error) {
		if way == 0 {
			return "", in.Put(w.Tx, v)
		}
		was, err := w.Get(&in.Kind, key)
		switch {
		case err != nil:
			return "", err
		case way == 2 && was != nil:
			return "replaced", in.Replace(w.Tx, v, was)
		case way == 1 && was == nil && !w.dropped[in.Name+string(key)]:
			return "inserted", in.Insert(w.Tx, v)
		}
		return "put", in.Put(w.Tx, v)
	}}
}

// drop deletes a row, which may not be there.
func drop[T any](h *history, in *rows.Table[T], key []byte) operation {
	look := h.IntN(2) == 0
	return operation{fmt.Sprintf("drop %s %q, looking: %v", in.Name, key, look), func(w *work) (string, error) {
		w.dropped[in.Name+string(key)] = true
		if !look {
			return "", in.Drop(w.Tx, key)
		}
		was, err := w.Get(&in.Kind, key)
		if err != nil || was == nil {
			return "none", err
		}
		return "", in.Remove(w.Tx, key, was)
	}}
}

// dropFirst drops some users of an org.
func (h *history) dropFirst() operation {
	b, limit := rows.Below(orgs[h.IntN(len(orgs))], ""), 1+h.IntN(3)
	return operation{fmt.Sprintf("drop %d users from %q on", limit, b.From), func(w *work) (string, error) {
		keys, err := rows.Keys(w.Tx, &Users.Kind, rows.Range{Index: rows.ByKey, Bounds: b, Limit: limit})
		for _, key := range keys {
			w.dropped[Users.Name+string(key)] = true
		}
		if err != nil {
			return "", err
		}
		n, err := Users.DropFirst(w.Tx, b, limit)
		return fmt.Sprint(n), err
	}}
}
