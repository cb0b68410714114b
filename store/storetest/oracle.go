package storetest

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"time"

	"teamdata/store"
)

// pair is a key of two parts, the first mostly an org.
type pair struct{ a, b string }

// oracle is the contract of store.Tx on maps in memory, as plainly as can be.
// What an engine may choose it takes from the engine's trace.
type oracle struct {
	*trace
	orgs         map[string]store.Org
	plans        map[string]store.Plan
	members      map[pair]store.Member
	highest      map[pair]store.Cursor // position that a list ever had, by list and org
	auditLog     map[string][]store.AuditEntry
	instructions map[string]store.Instructions
	keys         map[string]store.APIKey
	endpoints    map[pair]store.Endpoint
	events       map[string]store.Event
	deliveries   map[string]store.Delivery
	records      map[pair]store.IdempotencyRecord
	certificates map[string][]byte
	mails        map[string]store.Mail
	acknowledged map[uint64]time.Time // the last, by endpoint
	given        map[uint64]bool      // the endpoints' numbers, those of removed ones too
	removed      map[uint64]bool      // endpoints that are not forgotten
	eventTypes   map[string]store.EventType
	tokens       map[string]store.OperatorToken
	accounts     map[string]store.Account
	sessions     map[string]store.Session
	links        map[string]store.SignInLink
	lastUsed     map[string]time.Time // by key
	counts       map[countsOf]store.DeliveryCounts
}

var _ store.Tx = (*oracle)(nil)

func newOracle() *oracle {
	return &oracle{
		trace: new(trace), orgs: map[string]store.Org{}, plans: map[string]store.Plan{}, members: map[pair]store.Member{},
		highest:  map[pair]store.Cursor{},
		auditLog: map[string][]store.AuditEntry{}, instructions: map[string]store.Instructions{},
		keys: map[string]store.APIKey{}, endpoints: map[pair]store.Endpoint{}, events: map[string]store.Event{},
		deliveries: map[string]store.Delivery{}, records: map[pair]store.IdempotencyRecord{}, certificates: map[string][]byte{},
		mails: map[string]store.Mail{}, acknowledged: map[uint64]time.Time{}, given: map[uint64]bool{}, removed: map[uint64]bool{},
		eventTypes: map[string]store.EventType{}, tokens: map[string]store.OperatorToken{},
		accounts: map[string]store.Account{}, sessions: map[string]store.Session{}, links: map[string]store.SignInLink{},
		lastUsed: map[string]time.Time{}, counts: map[countsOf]store.DeliveryCounts{},
	}
}

// find looks a record up.
func find[K comparable, T any](in map[K]T, key K) (T, error) {
	v, ok := in[key]
	if !ok {
		return v, store.Errorf(store.CodeNotFound, "There is no %v.", key)
	}
	return v, nil
}

// keep writes a record.
func keep[K comparable, T any](in map[K]T, key K, v T) error {
	in[key] = v
	return nil
}

// drop takes a record away.
func drop[K comparable, T any](in map[K]T, key K) error {
	delete(in, key)
	return nil
}

func (o *oracle) Now() time.Time { return o.now }

func (o *oracle) NewID(prefix string) string {
	id := take(&o.ids, "new id "+prefix)
	if !strings.HasPrefix(id, prefix) {
		panic("the oracle asks for a new id " + prefix + ", and the engine gave " + id)
	}
	return id
}

func (o *oracle) Org(id string) (store.Org, error)       { return find(o.orgs, id) }
func (o *oracle) PutOrg(v store.Org) error               { return keep(o.orgs, v.ID, v) }
func (o *oracle) AnyOrg() (bool, error)                  { return len(o.orgs) > 0, nil }
func (o *oracle) Plan(name string) (store.Plan, error)   { return find(o.plans, name) }
func (o *oracle) PutPlan(p store.Plan) error             { return keep(o.plans, p.Name, p) }
func (o *oracle) APIKey(id string) (store.APIKey, error) { return find(o.keys, id) }
func (o *oracle) PutAPIKey(k store.APIKey) error         { return keep(o.keys, k.ID, k) }
func (o *oracle) Event(id string) (store.Event, error)   { return find(o.events, id) }
func (o *oracle) AddEvent(e store.Event) error           { return keep(o.events, e.ID, e) }
func (o *oracle) AddDelivery(d store.Delivery) error     { return keep(o.deliveries, d.ID, d) }
func (o *oracle) PutMail(m store.Mail) error             { return keep(o.mails, m.ID, m) }
func (o *oracle) DeleteMail(id string) error             { return drop(o.mails, id) }
func (o *oracle) DeleteEvent(id string) error            { return drop(o.events, id) }
func (o *oracle) PutEndpoint(e store.Endpoint) error {
	return keep(o.endpoints, pair{e.OrgID, e.ID}, e)
}
func (o *oracle) Certificate(name string) ([]byte, error) { return find(o.certificates, name) }

func (o *oracle) Delivery(id string) (store.Delivery, error) { return find(o.deliveries, id) }
func (o *oracle) PutDelivery(d store.Delivery) error {
	if _, err := o.Delivery(d.ID); err != nil {
		return err
	}
	return keep(o.deliveries, d.ID, d)
}

func (o *oracle) Instructions(orgID string) (store.Instructions, error) {
	return o.instructions[orgID], nil
}

func (o *oracle) PutInstructions(orgID string, i store.Instructions) error {
	return keep(o.instructions, orgID, i)
}

func (o *oracle) PutCertificate(name string, pem []byte) error {
	return keep(o.certificates, name, bytes.Clone(pem))
}

func (o *oracle) Endpoint(orgID, id string) (store.Endpoint, error) {
	return find(o.endpoints, pair{orgID, id})
}

func (o *oracle) AddEndpoint(e store.Endpoint) (store.Endpoint, error) {
	e.Number = take(&o.numbers, "number")
	if o.given[e.Number] {
		panic("the engine gave an endpoint's number again")
	}
	o.given[e.Number] = true
	return e, o.PutEndpoint(e)
}

func (o *oracle) Endpoints(orgID string) ([]store.Endpoint, error) {
	list := slices.Collect(maps.Values(o.endpoints))
	list = slices.DeleteFunc(list, func(e store.Endpoint) bool { return e.OrgID != orgID })
	slices.SortFunc(list, func(a, b store.Endpoint) int { return strings.Compare(a.ID, b.ID) })
	return list, nil
}

func (o *oracle) IdempotencyRecord(orgID, key string) (store.IdempotencyRecord, error) {
	r, err := find(o.records, pair{orgID, key})
	if err == nil && expired(r, o.now) {
		return find(o.records, pair{})
	}
	return r, err
}

func (o *oracle) AddIdempotencyRecord(r store.IdempotencyRecord) error {
	return keep(o.records, pair{r.OrgID, r.Key}, r)
}

func (o *oracle) ExpireIdempotencyRecords(int) (int, error) { return 0, nil }
