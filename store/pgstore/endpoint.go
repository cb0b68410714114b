package pgstore

import "teamdata/store"

// The kinds of endpoints, of which queries about deliveries read the numbers.
var (
	webhooks         = kindTable("endpoints")
	removedEndpoints = kindTable("removedEndpoints")
)

// sqlEndpoints are the endpoints with their numbers.
var sqlEndpoints = "(SELECT *, " + sqlNumber("endpoint_numbers") + " AS number FROM endpoints WHERE endpoint_numbers IS NOT NULL)"

// sqlNumber is the number that a key is.
func sqlNumber(key string) string { return "('x' || encode(" + key + ", 'hex'))::bit(64)::bigint" }

func (t *tx) HTTPOnLoopback() bool { return t.s.options.ForTests }

func (t *tx) PutEndpoint(e store.Endpoint) error {
	if err := t.Nouns.PutEndpoint(e); err != nil || e.Disabled() {
		return err
	}
	rows, err := t.query([]*table{deliveries.table}, "SELECT at FROM deliveries WHERE endpoint = $1 AND list = 2 ORDER BY at, id LIMIT 1", e.Number)
	if err == nil && len(rows) > 0 {
		t.Due(e.Number, readTime(rows[0][0]))
	}
	return err
}

func (t *tx) ForgetEndpoint(number uint64) error {
	if err := t.Nouns.ForgetEndpoint(number); err != nil {
		return err
	}
	return t.remove(lastAcknowledged, unsigned(number))
}
