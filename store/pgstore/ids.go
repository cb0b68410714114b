package pgstore

import (
	"sync"
	"time"

	"teamdata/store"
)

// ids makes ids that are greater than those that other nodes made in the same scope: than
// all that were committed before its locks were taken.
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

// latest is the greatest that was made or followed.
func (i *ids) latest() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.last
}
