package storetest

import (
	"bytes"
	"maps"
	"slices"
	"time"

	"teamdata/store"
)

// oracle is the contract of store.Tx on maps in memory, as plainly as can be.
// What an engine may choose it takes from the engine's trace.
type oracle struct {
	*trace
	orgs         kept[string, store.Org]
	removedOrgs  kept[string, bool] // those that are not forgotten
	plans        kept[string, store.Plan]
	members      kept[pair, store.Member]
	highest      kept[pair, store.Cursor] // position that a list ever had, by list and org
	auditLog     kept[string, []store.AuditEntry]
	instructions kept[string, store.Instructions]
	keys         kept[string, store.APIKey]
	keyUse       kept[string, store.KeyUse]
	endpoints    kept[pair, store.Endpoint]
	events       kept[string, store.Event]
	deliveries   kept[string, store.Delivery]
	records      kept[pair, store.IdempotencyRecord]
	certificates kept[string, []byte]
	mails        kept[string, store.Mail]
	replays      kept[string, store.ReplayJob]
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

// kept are records of a kind, by their keys. The zero value holds none.
type kept[K comparable, T any] map[K]T

func (in kept[K, T]) find(key K) (T, error) {
	v, ok := in[key]
	if !ok {
		return v, store.Errorf(store.CodeNotFound, "There is no %v.", key)
	}
	return v, nil
}

func (in *kept[K, T]) keep(key K, v T) error {
	if *in == nil {
		*in = kept[K, T]{}
	}
	(*in)[key] = v
	return nil
}

func (in kept[K, T]) drop(key K) error {
	delete(in, key)
	return nil
}

// sorted lists up to limit records behind a key, in the order of their keys.
func sorted[T any](in map[string]T, after string, limit int) (list []T) {
	for _, key := range slices.Sorted(maps.Keys(in)) {
		if key > after && len(list) < limit {
			list = append(list, in[key])
		}
	}
	return list
}

const unlimited = int(^uint(0) >> 1)

func (o *oracle) APIKeys(orgID, after string, limit int) (list []store.APIKey, err error) {
	for _, k := range sorted(o.keys, after, unlimited) {
		if k.OrgID == orgID && len(list) < limit {
			list = append(list, k)
		}
	}
	return list, nil
}

func (o *oracle) ReplayJobs(orgID, after string, limit int) (list []store.ReplayJob, err error) {
	for _, j := range sorted(o.replays, after, unlimited) {
		if j.OrgID == orgID && len(list) < limit {
			list = append(list, j)
		}
	}
	return list, nil
}

func (o *oracle) DeleteReplayJob(id string) error {
	if _, err := o.replays.find(id); err != nil {
		return err
	}
	return o.replays.drop(id)
}

// What is just kept.
func (o *oracle) PutReplayJob(j store.ReplayJob) error         { return o.replays.keep(j.ID, j) }
func (o *oracle) ReplayJob(id string) (store.ReplayJob, error) { return o.replays.find(id) }
func (o *oracle) AllReplayJobs(after string, limit int) ([]store.ReplayJob, error) {
	return sorted(o.replays, after, limit), nil
}
func (o *oracle) DeleteMail(id string) error         { return o.mails.drop(id) }
func (o *oracle) PutMail(m store.Mail) error         { return o.mails.keep(m.ID, m) }
func (o *oracle) Mail(id string) (store.Mail, error) { return o.mails.find(id) }
func (o *oracle) Mails(after string, limit int) ([]store.Mail, error) {
	return sorted(o.mails, after, limit), nil
}
func (o *oracle) PutKeyUse(id string, u store.KeyUse) error { return o.keyUse.keep(id, u) }
func (o *oracle) KeyUse(id string) (store.KeyUse, error)    { return o.keyUse[id], nil }
func (o *oracle) Org(id string) (store.Org, error)          { return o.orgs.find(id) }
func (o *oracle) AnyOrg() (bool, error)                     { return len(o.orgs)+len(o.removedOrgs) > 0, nil }
func (o *oracle) OrgRemoved(id string) (bool, error)        { return o.removedOrgs[id], nil }
func (o *oracle) PutOrg(v store.Org) error                  { return o.orgs.keep(v.ID, v) }
func (o *oracle) Orgs(after string, limit int) ([]store.Org, error) {
	return sorted(o.orgs, after, limit), nil
}
func (o *oracle) DeleteSignInLink(id string) error               { return o.links.drop(id) }
func (o *oracle) SignInLink(id string) (store.SignInLink, error) { return o.links.find(id) }
func (o *oracle) SignInLinks(after string, limit int) ([]store.SignInLink, error) {
	return sorted(o.links, after, limit), nil
}
func (o *oracle) PutSignInLink(l store.SignInLink) error { return o.links.keep(l.ID, l) }
func (o *oracle) Endpoint(orgID, id string) (store.Endpoint, error) {
	return o.endpoints.find(pair{orgID, id})
}
func (o *oracle) PutEndpoint(e store.Endpoint) error                   { return o.endpoints.keep(pair{e.OrgID, e.ID}, e) }
func (o *oracle) Delivery(id string) (store.Delivery, error)           { return o.deliveries.find(id) }
func (o *oracle) Event(id string) (store.Event, error)                 { return o.events.find(id) }
func (o *oracle) DeleteOperatorToken(id string) error                  { return o.tokens.drop(id) }
func (o *oracle) OperatorToken(id string) (store.OperatorToken, error) { return o.tokens.find(id) }
func (o *oracle) PutOperatorToken(v store.OperatorToken) error         { return o.tokens.keep(v.ID, v) }
func (o *oracle) OperatorTokens() ([]store.OperatorToken, error) {
	return sorted(o.tokens, "", unlimited), nil
}
func (o *oracle) Plans() ([]store.Plan, error)         { return sorted(o.plans, "", unlimited), nil }
func (o *oracle) DeletePlan(name string) error         { return o.plans.drop(name) }
func (o *oracle) Plan(name string) (store.Plan, error) { return o.plans.find(name) }
func (o *oracle) PutPlan(p store.Plan) error           { return o.plans.keep(p.Name, p) }
func (o *oracle) PutSession(s store.Session) error     { return o.sessions.keep(s.ID, s) }
func (o *oracle) Sessions(after string, limit int) ([]store.Session, error) {
	return sorted(o.sessions, after, limit), nil
}
func (o *oracle) DeleteSession(id string) error            { return o.sessions.drop(id) }
func (o *oracle) Session(id string) (store.Session, error) { return o.sessions.find(id) }
func (o *oracle) PutInstructions(orgID string, i store.Instructions) error {
	return o.instructions.keep(orgID, i)
}
func (o *oracle) Instructions(orgID string) (store.Instructions, error) {
	return o.instructions[orgID], nil
}
func (o *oracle) AddIdempotencyRecord(r store.IdempotencyRecord) error {
	return o.records.keep(pair{r.OrgID, r.Key}, r)
}
func (o *oracle) DeleteIdempotencyRecord(orgID, key string) error {
	return o.records.drop(pair{orgID, key})
}
func (o *oracle) DeleteAccount(userID string) error { return o.accounts.drop(userID) }
func (o *oracle) PutMember(m store.Member) error    { return o.members.keep(pair{m.OrgID, m.UserID}, m) }
func (o *oracle) Member(orgID, userID string) (store.Member, error) {
	return o.members.find(pair{orgID, userID})
}
func (o *oracle) EventType(name string) (store.EventType, error) { return o.eventTypes.find(name) }
func (o *oracle) EventTypes() ([]store.EventType, error) {
	return sorted(o.eventTypes, "", unlimited), nil
}
func (o *oracle) DeleteEventType(name string) error    { return o.eventTypes.drop(name) }
func (o *oracle) PutEventType(e store.EventType) error { return o.eventTypes.keep(e.Name, e) }
func (o *oracle) PutLastAcknowledged(endpoint uint64, at time.Time) error {
	return o.acknowledged.keep(endpoint, at)
}
func (o *oracle) LastAcknowledged(endpoint uint64) (time.Time, error) {
	return o.acknowledged[endpoint], nil
}
func (o *oracle) Certificate(name string) ([]byte, error) { return o.certificates.find(name) }
func (o *oracle) PutCertificate(name string, pem []byte) error {
	return o.certificates.keep(name, bytes.Clone(pem))
}
func (o *oracle) PutAPIKey(k store.APIKey) error         { return o.keys.keep(k.ID, k) }
func (o *oracle) APIKey(id string) (store.APIKey, error) { return o.keys.find(id) }
