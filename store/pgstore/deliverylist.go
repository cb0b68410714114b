package pgstore

import (
	"strconv"
	"strings"

	"teamdata/store"
)

// sqlLatest reads the latest of one list of an endpoint e, by its column of time. Each
// part has its own order and limit, so that no step sorts a list.
func sqlLatest(column, where string) string {
	return "(SELECT id, " + column + " AS shown FROM deliveries WHERE endpoint = e.number AND " + where +
		" AND (" + column + ", id) < ($2, $3) ORDER BY " + column + " DESC, id DESC LIMIT $4)"
}

// LatestDeliveries merges the ids of the endpoints' lists, and reads only the records
// of the page. Those that wait are in two parts: the due list has those that were not
// attempted where they are looked for.
func (t *tx) LatestDeliveries(endpoints []uint64, lists []store.DeliveryList, before store.Cursor, limit int) (page []store.Delivery, err error) {
	var parts []string
	for _, list := range lists {
		where := "list = " + strconv.Itoa(int(list))
		switch list {
		case store.ListAttempted:
			parts = append(parts, sqlLatest("attempted", "attempted > 0"))
			continue
		case store.ListWaiting:
			where += " AND attempted = 0"
			parts = append(parts, sqlLatest("attempted", "attempted > 0"))
		}
		parts = append(parts, sqlLatest("at", where))
	}
	if len(parts) == 0 || len(endpoints) == 0 {
		return nil, nil
	}
	if before.IsZero() {
		before.Ms = 1<<63 - 1
	}
	rows, err := t.query([]*table{deliveries.table}, `SELECT d.id, d.record FROM (
			SELECT latest.id, latest.shown FROM unnest($1::bigint[]) e (number), LATERAL (`+strings.Join(parts, " UNION ALL ")+`) latest
			ORDER BY latest.shown DESC, latest.id DESC LIMIT $4) page
		JOIN deliveries d ON d.id = page.id ORDER BY page.shown DESC, page.id DESC`, endpoints, before.Ms, before.ID, limit)
	for _, r := range rows {
		d, err := readDelivery(r)
		if err != nil {
			return nil, err
		}
		page = append(page, d)
	}
	return page, err
}
