package storetest

import (
	"maps"
	"slices"
	"strings"
	"time"

	"teamdata/store"
)

// pair is a key of two parts, the first mostly an org.
type pair struct{ a, b string }

// oracle is the contract of store.Tx on maps in memory, as plainly as can be.
// What an engine may choose it takes from the engine's trace. What it just keeps
// stands in kept.go.
type oracle struct {
	*trace
	orgs         kept[string, store.Org]
	plans        kept[string, store.Plan]
	members      kept[pair, store.Member]
	highest      kept[pair, store.Cursor] // position that a list ever had, by list and org
	auditLog     kept[string, []store.AuditEntry]
	instructions kept[string, store.Instructions]
	keys         kept[string, store.APIKey]
	lastUsed     kept[string, time.Time] // by key
	endpoints    kept[pair, store.Endpoint]
	events       kept[string, store.Event]
	deliveries   kept[string, store.Delivery]
	records      kept[pair, store.IdempotencyRecord]
	certificates kept[string, []byte]
	mails        kept[string, store.Mail]
	acknowledged kept[uint64, time.Time] // the last, by endpoint
	given        kept[uint64, bool]      // the endpoints' numbers, those of removed ones too
	removed      kept[uint64, bool]      // endpoints that are not forgotten
	eventTypes   kept[string, store.EventType]
	tokens       kept[string, store.OperatorToken]
	accounts     kept[string, store.Account]
	sessions     kept[string, store.Session]
	links        kept[string, store.SignInLink]
	counts       kept[countsOf, store.DeliveryCounts]
}

var _ store.Tx = (*oracle)(nil)

func newOracle() *oracle { return &oracle{trace: new(trace)} }

func (o *oracle) Now() time.Time { return o.now }

func (o *oracle) NewID(prefix string) string {
	id := take(&o.ids, "new id "+prefix)
	if !strings.HasPrefix(id, prefix) {
		panic("the oracle asks for a new id " + prefix + ", and the engine gave " + id)
	}
	return id
}

func (o *oracle) PutDelivery(d store.Delivery) error {
	if _, err := o.Delivery(d.ID); err != nil {
		return err
	}
	return o.deliveries.keep(d.ID, d)
}

func (o *oracle) AddEndpoint(e store.Endpoint) (store.Endpoint, error) {
	e.Number = take(&o.numbers, "number")
	if o.given[e.Number] {
		panic("the engine gave an endpoint's number again")
	}
	o.given.keep(e.Number, true)
	return e, o.PutEndpoint(e)
}

func (o *oracle) Endpoints(orgID string) ([]store.Endpoint, error) {
	list := slices.Collect(maps.Values(o.endpoints))
	list = slices.DeleteFunc(list, func(e store.Endpoint) bool { return e.OrgID != orgID })
	slices.SortFunc(list, func(a, b store.Endpoint) int { return strings.Compare(a.ID, b.ID) })
	return list, nil
}

func (o *oracle) IdempotencyRecord(orgID, key string) (store.IdempotencyRecord, error) {
	r, err := o.records.find(pair{orgID, key})
	if err == nil && expired(r, o.now) {
		return o.records.find(pair{})
	}
	return r, err
}

func (o *oracle) ExpireIdempotencyRecords(int) (int, error) { return 0, nil }
