package pgstore

import (
	"encoding/binary"
	"strconv"
	"time"

	"teamdata/store"
)

var deliveryCounts = define("delivery_counts", 3, text("org_id"), number("hour"), number("endpoint"))

// counted are counts that are not sent yet. The updates of a group add to few rows,
// each of which is written once; the database adds, so that nobody reads them.
type counted struct {
	orgID    string
	hour     int64
	endpoint uint64
	counts   store.DeliveryCounts
}

func hoursOf(t time.Time) int64 { return max(t.Unix(), 0) / 3600 }

func (t *tx) AddDeliveryCounts(orgID string, endpoint uint64, at time.Time, c store.DeliveryCounts) error {
	if t.over == nil {
		return fault(errReadOnly)
	}
	t.over.counts = append(t.over.counts, counted{orgID, hoursOf(at), endpoint, c})
	return nil
}

// addCounts makes the statement that adds counts.
func addCounts(all []counted) query {
	type place struct {
		orgID    string
		hour     int64
		endpoint uint64
	}
	sums := map[place]*store.DeliveryCounts{}
	var places []place
	for _, c := range all {
		at := place{c.orgID, c.hour, c.endpoint}
		if sums[at] == nil {
			sums[at] = new(store.DeliveryCounts)
			places = append(places, at)
		}
		sums[at].Add(c.counts)
	}
	s := newQuery(`INSERT INTO delivery_counts AS c (org_id, hour, endpoint, counts)
		SELECT org_id, hour, endpoint, counts::bigint[] FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[]) added (org_id, hour, endpoint, counts)
		ON CONFLICT (org_id, hour, endpoint) DO UPDATE SET
			counts = (SELECT array_agg(old + new) FROM unnest(c.counts, excluded.counts) both_counts (old, new))`)
	s.values = append(s.values, array(textKind, len(places), func(i int) []byte { return plain(places[i].orgID) }))
	s.values = append(s.values, array(numberKind, len(places), func(i int) []byte { return bigint(places[i].hour) }))
	s.values = append(s.values, array(numberKind, len(places), func(i int) []byte { return unsigned(places[i].endpoint) }))
	s.values = append(s.values, array(textKind, len(places), func(i int) []byte { return appendCounts(nil, sums[places[i]]) }))
	return s
}

// numbersOf are the numbers of counts in the order in which they are stored.
func numbersOf(c *store.DeliveryCounts) []*int {
	numbers := []*int{&c.Acknowledged, &c.Retrying, &c.Failed}
	for i := range c.Latency {
		numbers = append(numbers, &c.Latency[i])
	}
	return numbers
}

// appendCounts appends counts as the text of an array.
func appendCounts(dst []byte, c *store.DeliveryCounts) []byte {
	dst = append(dst, '{')
	for i, n := range numbersOf(c) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, int64(*n), 10)
	}
	return append(dst, '}')
}

// readCounts reads an array of bigint in binary format.
func readCounts(b []byte) (c store.DeliveryCounts) {
	const head, each = 20, 4 + 8
	for i, n := range numbersOf(&c) {
		if start := head + i*each + 4; len(b) >= start+8 {
			*n = int(binary.BigEndian.Uint64(b[start:]))
		}
	}
	return c
}

func (t *tx) EachDeliveryCounts(orgID string, from time.Time, fn func(endpoint uint64, hour time.Time, c store.DeliveryCounts)) error {
	rows, err := t.query([]*table{deliveryCounts}, "SELECT hour, endpoint, counts FROM delivery_counts WHERE org_id = $1 AND hour >= $2 ORDER BY hour, endpoint",
		orgID, hoursOf(from))
	for _, r := range rows {
		fn(readUnsigned(r[1]), time.Unix(readBigint(r[0])*3600, 0).UTC(), readCounts(r[2]))
	}
	return err
}

func (t *tx) DropDeliveryCounts(before time.Time, limit int) (int, error) {
	return t.dropCounts("hour < $1 ORDER BY hour LIMIT $2", hoursOf(before), limit)
}

func (t *tx) DropDeliveryCountsOf(orgID string, limit int) (int, error) {
	return t.dropCounts("org_id = $1 LIMIT $2", orgID, limit)
}

func (t *tx) dropCounts(which string, args ...any) (int, error) {
	rows, err := t.query([]*table{deliveryCounts}, "SELECT org_id, hour, endpoint FROM delivery_counts WHERE "+which, args...)
	if err != nil {
		return 0, err
	}
	return t.removeAll(deliveryCounts, rows)
}
