package pgstore

import (
	"bytes"
	"sync"

	"teamdata/store"
)

// maxRecent is how many bytes of records each of two generations has.
const maxRecent = 8 << 20

// recent are the records of events that this process committed last. Most are sent at
// once, without being read again; an event never changes.
type recent struct {
	mu         sync.Mutex
	young, old map[string][]byte // by id
	size       int               // of the young ones
}

// add adds what a group has read and written of events.
func (r *recent) add(rows map[string]entry) {
	if len(rows) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, e := range rows {
		if e.row == nil {
			continue
		}
		record := bytes.Clone(e.row[len(e.row)-1]) // which else keeps what was written with it
		if r.size += len(id) + len(record); r.young == nil || r.size > maxRecent {
			r.young, r.old, r.size = map[string][]byte{}, r.young, len(id)+len(record)
		}
		r.young[id] = record
	}
}

// record returns the record of an event, if it is one of them.
func (r *recent) record(id string) (record []byte, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if record, known = r.young[id]; !known {
		record, known = r.old[id]
	}
	return record, known
}

// bodies returns the bodies of events.
func (t *tx) bodies(ids []string) (bodies map[string][]byte, err error) {
	bodies = make(map[string][]byte, len(ids))
	var unknown [][]byte
	for _, id := range ids {
		record, known := t.s.recent.record(id)
		if !known {
			unknown = append(unknown, []byte(id))
		} else if bodies[id], err = store.EventBody(record); err != nil {
			return nil, err
		}
	}
	if len(unknown) == 0 {
		return bodies, nil
	}
	q := newQuery("SELECT key, value FROM events WHERE key = ANY($1)", unknown)
	q.row = func(values [][]byte) error {
		body, err := store.EventBody(values[1])
		bodies[string(values[0])] = body
		return err
	}
	return bodies, t.scan(nil, q)
}
