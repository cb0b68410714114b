package pgstore

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"time"

	"teamdata/store"
)

var deliveryCounts = define("delivery_counts", text("org_id"), number("hour"), number("endpoint"), column{name: "counts"})

// countsAt is where counts are added.
type countsAt struct {
	orgID    string
	hour     int64
	endpoint uint64
}

// counted are counts that are not sent yet. The updates of a group add to few rows,
// each of which is written once; the database adds, so that nobody reads them.
type counted struct {
	countsAt
	counts store.DeliveryCounts
}

func hoursOf(t time.Time) int64 { return max(t.Unix(), 0) / 3600 }

func (t *tx) AddDeliveryCounts(orgID string, endpoint uint64, at time.Time, c store.DeliveryCounts) error {
	if t.over == nil {
		return fault(errReadOnly)
	}
	t.over.counts = append(t.over.counts, counted{countsAt{orgID, hoursOf(at), endpoint}, c})
	return nil
}

// addCounts makes the statement that adds counts, to the rows of a part.
func addCounts(all []counted, part int64) query {
	sums := map[countsAt]*store.DeliveryCounts{}
	var places []countsAt
	for _, c := range all {
		if sums[c.countsAt] == nil {
			sums[c.countsAt] = new(store.DeliveryCounts)
			places = append(places, c.countsAt)
		}
		sums[c.countsAt].Add(c.counts)
	}
	added := make([]row, len(places))
	for i, at := range places {
		added[i] = row{plain(at.orgID), bigint(at.hour), unsigned(at.endpoint), appendCounts(nil, sums[at])}
	}
	q := columnwise(`INSERT INTO delivery_counts AS c (org_id, hour, endpoint, counts, part)
		SELECT org_id, hour, endpoint, counts::bigint[], $5::bigint FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[]) added (org_id, hour, endpoint, counts)
		`+sqlAddToPart, append(deliveryCounts.cols[:3:3], text("counts")), added)
	q.values = append(q.values, bigint(part))
	return q
}

const (
	sqlAddToPart = `ON CONFLICT (org_id, hour, endpoint, part) DO UPDATE SET
			counts = (SELECT array_agg(old + new) FROM unnest(c.counts, excluded.counts) both_counts (old, new))`
	// sqlSumParts sums the parts of rows.
	sqlSumParts = `SELECT org_id, hour, endpoint, array_agg(n ORDER BY place)
		FROM (SELECT org_id, hour, endpoint, place, sum(n)::bigint AS n FROM %s, unnest(counts) WITH ORDINALITY each (n, place) GROUP BY org_id, hour, endpoint, place) numbers
		GROUP BY org_id, hour, endpoint ORDER BY org_id, hour, endpoint`
)

// foldedParts is how many rows are put together at a time.
const foldedParts = 10_000

// sqlFold puts parts together, and returns how many. It leaves those that somebody writes,
// and waits only for others who do the same, since nobody else writes part 0.
var sqlFold = `WITH few AS MATERIALIZED (
		SELECT org_id, hour, endpoint, part FROM delivery_counts WHERE part > 0 ORDER BY org_id, hour, endpoint LIMIT $1 FOR UPDATE SKIP LOCKED),
	gone AS (DELETE FROM delivery_counts d USING few WHERE (d.org_id, d.hour, d.endpoint, d.part) = (few.org_id, few.hour, few.endpoint, few.part) RETURNING d.*),
	added AS (INSERT INTO delivery_counts AS c (org_id, hour, endpoint, counts) ` + fmt.Sprintf(sqlSumParts, "gone") + " " + sqlAddToPart + `)
	SELECT count(*) FROM few`

// foldCounts puts the parts together that there are.
func (s *Store) foldCounts(ctx context.Context) error {
	for {
		rows, err := s.pool.rows(ctx, newQuery(sqlFold, foldedParts))
		if err != nil || readBigint(rows[0][0]) < foldedParts {
			return err
		}
	}
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
	var rows []row
	err := t.scan([]*table{deliveryCounts}, newQuery("SELECT hour, endpoint, counts FROM delivery_counts WHERE org_id = $1 AND hour >= $2 ORDER BY hour, endpoint",
		orgID, hoursOf(from)).collect(&rows))
	for len(rows) > 0 && err == nil {
		parts := 1
		sum := readCounts(rows[0][2])
		for ; parts < len(rows) && slices.EqualFunc(rows[0][:2], rows[parts][:2], bytes.Equal); parts++ {
			sum.Add(readCounts(rows[parts][2]))
		}
		fn(readUnsigned(rows[0][1]), time.Unix(readBigint(rows[0][0])*3600, 0).UTC(), sum)
		rows = rows[parts:]
	}
	return err
}

func (t *tx) DropDeliveryCounts(before time.Time, limit int) (int, error) {
	return t.dropCounts("hour < $1 GROUP BY hour, org_id, endpoint ORDER BY hour LIMIT $2", hoursOf(before), limit)
}

func (t *tx) DropDeliveryCountsOf(orgID string, limit int) (int, error) {
	return t.dropCounts("org_id = $1 GROUP BY org_id, hour, endpoint LIMIT $2", orgID, limit)
}

// dropCounts deletes counts at once, and returns how many there were, whatever their parts.
func (t *tx) dropCounts(which string, args ...any) (int, error) {
	if t.over == nil {
		return 0, fault(errReadOnly)
	}
	var dropped []row
	drop := newQuery(`WITH few AS MATERIALIZED (SELECT org_id, hour, endpoint FROM delivery_counts WHERE `+which+`),
		gone AS (DELETE FROM delivery_counts d USING few WHERE (d.org_id, d.hour, d.endpoint) = (few.org_id, few.hour, few.endpoint))
		SELECT count(*) FROM few`, args...).collect(&dropped)
	queries := append(t.over.flushEarly([]*table{deliveryCounts}), t.over.savepoint()...)
	if err := t.exec(append(queries, drop)...); err != nil {
		return 0, err
	}
	return int(readBigint(dropped[0][0])), nil
}
