package boltstore

import (
	"bytes"
	"slices"

	"go.etcd.io/bbolt"

	"teamdata/store"
)

// LatestDeliveries merges the endpoints' lists by their keys, and reads only the
// records of the page.
func (t *tx) LatestDeliveries(endpoints []uint64, lists []store.DeliveryList, before store.Cursor, limit int) (page []store.Delivery, err error) {
	merge := t.latest(endpoints, lists, before)
	for len(merge) > 0 && len(page) < limit {
		newest := 0
		for i := range merge {
			if merge[i].at.Compare(merge[newest].at) > 0 {
				newest = i
			}
		}
		d, err := t.Delivery(merge[newest].at.ID)
		if err != nil {
			return nil, err
		}
		page = append(page, d)
		if !merge[newest].next() {
			merge = slices.Delete(merge, newest, newest+1)
		}
	}
	return page, nil
}

// latest opens the lists that aren't empty before a position.
func (t *tx) latest(endpoints []uint64, lists []store.DeliveryList, before store.Cursor) (open []latestList) {
	b := t.bolt.Bucket(bucketDeliveryLists)
	for _, endpoint := range endpoints {
		for _, list := range lists {
			parts := []store.DeliveryList{list}
			if list == store.ListWaiting {
				parts = append(parts, store.ListAttempted)
			}
			for _, part := range parts {
				l := latestList{c: b.Cursor(), prefix: listStart(endpoint, part), unattempted: part == store.ListWaiting}
				if l.seek(endOfPage(endpoint, part, before)) {
					open = append(open, l)
				}
			}
		}
	}
	return open
}

// latestList is one list of an endpoint that is read backwards.
type latestList struct {
	c           *bbolt.Cursor
	prefix      []byte
	unattempted bool         // skip those that were attempted, which are in another list
	at          store.Cursor // the position of the current one
}

// seek finds the last one before a key; false: there is none.
func (l *latestList) seek(end []byte) bool {
	if key, _ := l.c.Seek(end); key == nil {
		return l.take(l.c.Last())
	}
	return l.take(l.c.Prev())
}

func (l *latestList) next() bool { return l.take(l.c.Prev()) }

func (l *latestList) take(key, value []byte) bool {
	for l.unattempted && len(value) > 0 && bytes.HasPrefix(key, l.prefix) {
		key, value = l.c.Prev()
	}
	if !bytes.HasPrefix(key, l.prefix) {
		return false
	}
	_, _, l.at = readPlaceKey(key)
	return true
}
