package pgstore

import (
	"sync"
	"time"

	"teamdata/store"
)

// ids makes ids that are greater than those that other nodes made in the same scope:
// each scope keeps its last one.
type ids struct {
	mu     sync.Mutex
	source store.IDSource
	last   string // without its prefix
}

const idLength = 26 // without the prefix

func (i *ids) next(prefix string, now time.Time) string {
	i.mu.Lock()
	defer i.mu.Unlock()
	id := i.source.Next(prefix, now)
	i.last = id[len(prefix):]
	return id
}

// follow makes all later ids greater than one of another node.
func (i *ids) follow(id string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(id) >= idLength && id[len(id)-idLength:] > i.last {
		i.source.Follow(id)
		i.last = id[len(id)-idLength:]
	}
}

// follow reads an id to be followed.
func (o *overlay) follow(sql string) query {
	q := newQuery(sql)
	q.row = func(values [][]byte) error {
		o.lastID = max(o.lastID, string(values[0]))
		return nil
	}
	return q
}

// followIDs follows those of what a group names.
func (t *tx) followIDs(named *ahead) {
	t.s.ids.follow(t.over.lastID)
	for _, id := range named.Orgs {
		if e := t.over.in(orgLists)[string(plain(id))]; e.row != nil {
			t.s.ids.follow(string(e.row[5]))
		}
	}
	for _, id := range named.Users {
		if e := t.over.in(users)[string(plain(id))]; e.row != nil {
			t.s.ids.follow(string(e.row[1]))
		}
	}
}

// keepID keeps the last id that an update made, in its scope.
func (t *tx) keepID(scope store.Scope) error {
	for _, id := range scope.Users {
		if err := t.put(users, row{plain(id), plain(t.lastID)}); err != nil {
			return err
		}
	}
	orgs := scope.Orgs
	if scope.All {
		orgs = []string{""} // that of everything
	}
	for _, id := range orgs {
		lists, err := t.lists(id)
		if err != nil {
			return err
		}
		lists = append(row{}, lists...)
		lists[5] = plain(t.lastID)
		if err := t.put(orgLists, lists); err != nil {
			return err
		}
	}
	return nil
}
