package pgstore

import (
	"time"

	"teamdata/store"
	"teamdata/store/codec"
)

var (
	deliveries = records[store.Delivery]{
		table: define("deliveries", 1, text("id"), number("endpoint"), number("list"), number("at"), number("attempted"), blob("record")),
		noun:  "delivery", fields: codec.Delivery,
		made: func(d *store.Delivery) row {
			list, at := d.Position()
			attempted, _ := d.Attempted()
			return row{unsigned(d.EndpointNumber), bigint(int64(list)), unsigned(at.Ms), unsigned(attempted.Ms)}
		},
	}
	lastAcknowledged = define("last_acknowledged", 1, number("endpoint"), number("at")).newest("at")
)

// readDelivery reads the delivery of a row, whose first column is its id and the
// last its record.
func readDelivery(found row) (store.Delivery, error) {
	d, err := deliveries.read(found)
	d.ID = string(found[0])
	return d, err
}

func (t *tx) Delivery(id string) (store.Delivery, error) {
	d, err := deliveries.get(t, id)
	d.ID = id
	return d, err
}

func (t *tx) addDelivery(d *store.Delivery, put func(*tx, store.Delivery, ...string) error) error {
	if d.State.Waiting() {
		t.Due(d.EndpointNumber, d.DueAt)
	}
	return put(t, *d, d.ID)
}

func (t *tx) PutDelivery(d store.Delivery) error {
	if found, err := t.get(deliveries.table, plain(d.ID)); err != nil {
		return err
	} else if found == nil {
		return deliveries.missing()
	}
	if d.State.Waiting() {
		t.Again(d.ID)
	}
	return t.addDelivery(&d, deliveries.put)
}

func (t *tx) DeleteDelivery(id string) error {
	d, err := t.Delivery(id)
	if err != nil {
		return err
	}
	if err := deliveries.remove(t, id); err != nil {
		return err
	}
	return t.dropEvent(d.EventID)
}

func (t *tx) DeliveryPage(endpoint uint64, list store.DeliveryList, after store.Cursor, limit int) (page []store.Delivery, more bool, err error) {
	const from = "SELECT id, record FROM deliveries WHERE endpoint = $1 AND list = $2 AND "
	sql := from + "(at, id) > ($3, $4) ORDER BY at, id LIMIT $5"
	if list != store.ListWaiting {
		sql = from + "(at, id) < ($3, $4) ORDER BY at DESC, id DESC LIMIT $5"
		if after.IsZero() {
			after.Ms = 1<<63 - 1
		}
	}
	rows, err := t.query([]*table{deliveries.table}, sql, endpoint, int(list), after.Ms, after.ID, oneMore(limit))
	if err != nil {
		return nil, false, err
	}
	for _, r := range rows[:min(len(rows), limit)] {
		d, err := readDelivery(r)
		if err != nil {
			return nil, false, err
		}
		page = append(page, d)
	}
	return page, len(rows) > limit, nil
}

func oneMore(limit int) int {
	if limit == all {
		return limit
	}
	return limit + 1
}

// CountWaiting counts in the database: the first ones by due time, as they are due.
func (t *tx) CountWaiting(e store.Endpoint, most int) (w store.Waiting, err error) {
	rows, err := t.query([]*table{deliveries.table}, `SELECT count(*) FILTER (WHERE at <= $2), count(*) FROM
		(SELECT at FROM deliveries WHERE endpoint = $1 AND list = 2 ORDER BY at, id LIMIT $3) first`, e.Number, t.now, oneMore(most))
	if err != nil {
		return w, err
	}
	addWaiting(&w, e.Disabled(), int(readBigint(rows[0][0])), int(readBigint(rows[0][1])), most)
	return w, nil
}

// addWaiting adds deliveries of an endpoint, some of them due, to w, up to most.
func addWaiting(w *store.Waiting, disabled bool, due, count, most int) {
	for i := range count {
		if !w.Add(disabled, i >= due, most) {
			return
		}
	}
}

// FinishedBefore reads the start of each endpoint's two finished lists.
func (t *tx) FinishedBefore(before time.Time, limit int) ([]string, error) {
	rows, err := t.query([]*table{deliveries.table, webhooks, removedEndpoints}, `
		SELECT d.id FROM (SELECT endpoint_numbers FROM endpoints UNION ALL SELECT key FROM removed_endpoints) e (number),
			(VALUES (1::bigint), (3::bigint)) finished (list),
			LATERAL (SELECT id FROM deliveries WHERE endpoint = `+sqlNumber("e.number")+` AND list = finished.list AND at < $1 ORDER BY at, id LIMIT $2) d
		LIMIT $2`, before, limit)
	return firstTexts(rows), err
}

// HeldBefore reads the start of each waiting list, to find those of endpoints that were
// disabled before.
func (t *tx) HeldBefore(before time.Time, limit int) ([]string, error) {
	found, err := t.query([]*table{deliveries.table, webhooks}, `
		SELECT e.key, e.value FROM `+sqlEndpoints+` e
		WHERE (SELECT at FROM deliveries WHERE endpoint = e.number AND list = 2 ORDER BY at, id LIMIT 1) < $1`, before)
	var numbers []uint64
	for _, r := range found {
		e, err := store.ReadEndpoint(r[0], r[1])
		if err != nil {
			return nil, err
		}
		if e.Disabled() && e.DisabledAt.Before(before) {
			numbers = append(numbers, e.Number)
		}
	}
	if err != nil || len(numbers) == 0 {
		return nil, err
	}
	rows, err := t.query(nil, `
		SELECT d.id FROM unnest($3::bigint[]) e (number),
			LATERAL (SELECT id FROM deliveries WHERE endpoint = e.number AND list = 2 AND at < $1 ORDER BY at, id LIMIT $2) d
		LIMIT $2`, before, limit, numbers)
	return firstTexts(rows), err
}

func (t *tx) LastAcknowledged(endpoint uint64) (at time.Time, err error) {
	found, err := t.get(lastAcknowledged, unsigned(endpoint))
	if found != nil {
		at = readTime(found[1])
	}
	return at, err
}

// PutLastAcknowledged adds a row in the place of the one before, which is not written over:
// the last row of an endpoint is found first, however many versions of others are there.
func (t *tx) PutLastAcknowledged(endpoint uint64, at time.Time) error {
	if t.over == nil {
		return fault(errReadOnly)
	}
	before, err := t.get(lastAcknowledged, unsigned(endpoint))
	if err != nil {
		return err
	}
	if before != nil && readTime(before[1]) != at {
		t.over.stale = append(t.over.stale, before)
	}
	return t.put(lastAcknowledged, row{unsigned(endpoint), millis(at)})
}
