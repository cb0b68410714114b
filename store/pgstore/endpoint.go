package pgstore

import (
	"teamdata/store"
	"teamdata/store/codec"
)

var (
	webhooks = records[store.Endpoint]{
		table:  define("endpoints", 2, text("org_id"), text("id"), number("number"), number("disabled"), blob("record")),
		bucket: []byte("endpoints"), noun: "webhook endpoint", fields: codec.Endpoint, secrets: codec.SecretsOfEndpoint,
		made: func(e *store.Endpoint) row {
			disabled := bigint(0)
			if e.Disabled() {
				disabled = millis(e.DisabledAt)
			}
			return row{unsigned(e.Number), disabled}
		},
	}
	removedEndpoints = define("removed_endpoints", 1, number("number"))
)

func (t *tx) HTTPOnLoopback() bool { return t.s.options.ForTests }

func (t *tx) Endpoint(orgID, id string) (store.Endpoint, error) { return webhooks.get(t, orgID, id) }

// Endpoints is what every event reads: the updates of a group read it once.
func (t *tx) Endpoints(orgID string) (list []store.Endpoint, err error) {
	var rows []row
	known := false
	if t.over != nil {
		rows, known = t.over.endpoints[string(plain(orgID))]
	}
	if !known {
		rows, err = t.query([]*table{webhooks.table}, "SELECT "+webhooks.columns+" FROM endpoints WHERE org_id = $1 ORDER BY id", orgID)
		if err != nil {
			return nil, err
		}
	}
	if t.over != nil {
		t.over.endpoints[string(plain(orgID))] = rows
	}
	return webhooks.openAll(t, rows)
}

func (t *tx) AddEndpoint(e store.Endpoint) (store.Endpoint, error) {
	if t.over == nil {
		return e, fault(errReadOnly)
	}
	rows, err := t.query(nil, "SELECT nextval('endpoint_numbers')")
	if err != nil {
		return e, err
	}
	e.Number = readUnsigned(rows[0][0])
	return e, webhooks.put(t, e, e.OrgID, e.ID)
}

func (t *tx) PutEndpoint(e store.Endpoint) error {
	if err := webhooks.put(t, e, e.OrgID, e.ID); err != nil || e.Disabled() {
		return err
	}
	rows, err := t.query([]*table{deliveries.table}, "SELECT at FROM deliveries WHERE endpoint = $1 AND list = 2 ORDER BY at, id LIMIT 1", e.Number)
	if err == nil && len(rows) > 0 {
		t.Due(e.Number, readTime(rows[0][0]))
	}
	return err
}

func (t *tx) DeleteEndpoint(e store.Endpoint) error {
	if err := webhooks.remove(t, e.OrgID, e.ID); err != nil {
		return err
	}
	return t.put(removedEndpoints, row{unsigned(e.Number)})
}

func (t *tx) RemovedEndpoints(limit int) (numbers []uint64, err error) {
	rows, err := t.query([]*table{removedEndpoints}, "SELECT number FROM removed_endpoints ORDER BY number LIMIT $1", limit)
	for _, r := range rows {
		numbers = append(numbers, readUnsigned(r[0]))
	}
	return numbers, err
}

func (t *tx) ForgetEndpoint(number uint64) error {
	if err := t.remove(removedEndpoints, unsigned(number)); err != nil {
		return err
	}
	return t.remove(lastAcknowledged, unsigned(number))
}
