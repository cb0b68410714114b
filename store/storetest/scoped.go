package storetest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"teamdata/store"
)

// Scoped returns s with Updates that are held to their scopes: what is outside of one
// is neither read nor written, and fails the test. A record that is found by its id
// alone, and is outside, is shown with nothing but its owner. A benchmark gets s itself.
func Scoped(t testing.TB, s store.Store) store.Store {
	if _, measured := t.(*testing.B); measured {
		return s
	}
	return scopedStore{s, t}
}

type scopedStore struct {
	store.Store
	t testing.TB
}

func (s scopedStore) Update(ctx context.Context, scope store.Scope, fn func(store.Tx) error) error {
	if scope.All {
		return s.Store.Update(ctx, scope, fn)
	}
	return s.Store.Update(ctx, scope, func(tx store.Tx) error {
		return fn(scoped{tx, s.t, scope, map[uint64]bool{}})
	})
}

// scoped is a transaction of a scope.
type scoped struct {
	store.Tx
	t       testing.TB
	scope   store.Scope
	numbers map[uint64]bool // of the endpoints within the scope that were met
}

// within fails unless a part of the scope has what is asked for.
func within[T comparable](s scoped, part []T, kind string, asked T) error {
	if slices.Contains(part, asked) {
		return nil
	}
	return s.left("%s %+v", kind, asked)
}

func (s scoped) left(format string, args ...any) error {
	err := fmt.Errorf("an Update of the scope %+v asks for %s", s.scope, fmt.Sprintf(format, args...))
	s.t.Error(err)
	return err
}

func (s scoped) org(id string) error   { return within(s, s.scope.Orgs, "the org", id) }
func (s scoped) user(id string) error  { return within(s, s.scope.Users, "the user", id) }
func (s scoped) all(what string) error { return s.left("%s", what) }

func (s scoped) key(org, key string) error {
	return within(s, s.scope.Keys, "the idempotency key", store.IdempotencyKey{OrgID: org, Key: key})
}

func (s scoped) membership(m store.Member) error {
	if err := s.org(m.OrgID); err != nil {
		return err
	}
	return s.user(m.UserID)
}

func (s scoped) number(n uint64) error {
	if s.numbers[n] {
		return nil
	}
	return s.left("the endpoint of the number %d, which it has not met", n)
}

// met remembers the numbers of endpoints within the scope.
func (s scoped) met(endpoints ...store.Endpoint) {
	for _, e := range endpoints {
		s.numbers[e.Number] = true
	}
}

// owned fails unless the record of an id, if there is one, is within the scope.
func owned[T any](find func(id string) (T, error), id string, within func(T) error) error {
	v, err := find(id)
	if err != nil {
		return nil // and whoever asks finds out
	}
	return within(v)
}

// do1, do2 and so on call a method unless the scope forbids that.

func do1[A any](left error, do func(A) error, a A) error {
	if left != nil {
		return left
	}
	return do(a)
}

func do2[A, B any](left error, do func(A, B) error, a A, b B) error {
	if left != nil {
		return left
	}
	return do(a, b)
}

func get1[A, T any](left error, do func(A) (T, error), a A) (v T, err error) {
	if left != nil {
		return v, left
	}
	return do(a)
}

func get2[A, B, T any](left error, do func(A, B) (T, error), a A, b B) (v T, err error) {
	if left != nil {
		return v, left
	}
	return do(a, b)
}

func get3[A, B, C, T any](left error, do func(A, B, C) (T, error), a A, b B, c C) (v T, err error) {
	if left != nil {
		return v, left
	}
	return do(a, b, c)
}

func get4[A, B, C, D, T any](left error, do func(A, B, C, D) (T, error), a A, b B, c C, d D) (v T, err error) {
	if left != nil {
		return v, left
	}
	return do(a, b, c, d)
}

func (s scoped) Org(id string) (store.Org, error)      { return get1(s.org(id), s.Tx.Org, id) }
func (s scoped) PutOrg(o store.Org) error              { return do1(s.org(o.ID), s.Tx.PutOrg, o) }
func (s scoped) DeleteOrg(id string) error             { return do1(s.org(id), s.Tx.DeleteOrg, id) }
func (s scoped) OrgRemoved(id string) (bool, error)    { return get1(s.org(id), s.Tx.OrgRemoved, id) }
func (s scoped) ForgetOrg(id string) error             { return do1(s.org(id), s.Tx.ForgetOrg, id) }
func (s scoped) Orgs(string, int) ([]store.Org, error) { return nil, s.all("the list of orgs") }
func (s scoped) AnyOrg() (bool, error)                 { return false, s.all("any org") }
func (s scoped) RemovedOrgs(int) ([]string, error)     { return nil, s.all("the removed orgs") }

func (s scoped) PutPlan(store.Plan) error           { return s.all("writing a plan") }
func (s scoped) DeletePlan(string) error            { return s.all("deleting a plan") }
func (s scoped) PutEventType(store.EventType) error { return s.all("writing an event type") }
func (s scoped) DeleteEventType(string) error       { return s.all("deleting an event type") }
func (s scoped) PutOperatorToken(store.OperatorToken) error {
	return s.all("writing an operator token")
}
func (s scoped) DeleteOperatorToken(string) error    { return s.all("deleting an operator token") }
func (s scoped) PutCertificate(string, []byte) error { return s.all("writing a certificate") }

func (s scoped) Member(org, user string) (store.Member, error) {
	return get2(s.org(org), s.Tx.Member, org, user)
}

func (s scoped) AppendMember(m store.Member) (store.Member, error) {
	return get1(s.membership(m), s.Tx.AppendMember, m)
}

func (s scoped) PutMember(m store.Member) error { return do1(s.membership(m), s.Tx.PutMember, m) }

func (s scoped) DeleteMember(org, user string) error {
	return do2(s.membership(store.Member{OrgID: org, UserID: user}), s.Tx.DeleteMember, org, user)
}

func (s scoped) CountOwners(org string) (int, error) { return get1(s.org(org), s.Tx.CountOwners, org) }

func (s scoped) Managers(org string) ([]store.Member, error) {
	return get1(s.org(org), s.Tx.Managers, org)
}

func (s scoped) VisibleOrgs(user string) ([]string, error) {
	return get1(s.user(user), s.Tx.VisibleOrgs, user)
}

func (s scoped) MemberPage(org string, after store.Cursor, limit int, dst []byte) (store.Page, error) {
	return get4(s.org(org), s.Tx.MemberPage, org, after, limit, dst)
}

func (s scoped) ListMembers(org string, after store.Cursor, limit int) (page store.Page, members []store.Member, err error) {
	if err = s.org(org); err == nil {
		page, members, err = s.Tx.ListMembers(org, after, limit)
	}
	return page, members, err
}

func (s scoped) AppendAudit(e store.AuditEntry) (store.AuditEntry, error) {
	return get1(s.org(e.OrgID), s.Tx.AppendAudit, e)
}

func (s scoped) AuditPage(org string, after store.Cursor, limit int, dst []byte) (store.Page, error) {
	return get4(s.org(org), s.Tx.AuditPage, org, after, limit, dst)
}

func (s scoped) AuditPageBefore(org string, before store.Cursor, limit int, dst []byte) (store.Page, error) {
	return get4(s.org(org), s.Tx.AuditPageBefore, org, before, limit, dst)
}

func (s scoped) DropAuditLog(org string, limit int) (int, error) {
	return get2(s.org(org), s.Tx.DropAuditLog, org, limit)
}

func (s scoped) Instructions(org string) (store.Instructions, error) {
	return get1(s.org(org), s.Tx.Instructions, org)
}

func (s scoped) PutInstructions(org string, i store.Instructions) error {
	return do2(s.org(org), s.Tx.PutInstructions, org, i)
}

func (s scoped) APIKey(id string) (store.APIKey, error) {
	k, err := s.Tx.APIKey(id)
	if err == nil && !slices.Contains(s.scope.Orgs, k.OrgID) {
		k = store.APIKey{ID: k.ID, OrgID: k.OrgID}
	}
	return k, err
}

func (s scoped) keyOwner(id string) error {
	return owned(s.Tx.APIKey, id, func(k store.APIKey) error { return s.org(k.OrgID) })
}

func (s scoped) APIKeys(org, after string, limit int) ([]store.APIKey, error) {
	return get3(s.org(org), s.Tx.APIKeys, org, after, limit)
}

func (s scoped) PutAPIKey(k store.APIKey) error         { return do1(s.org(k.OrgID), s.Tx.PutAPIKey, k) }
func (s scoped) DeleteAPIKey(id string) error           { return do1(s.keyOwner(id), s.Tx.DeleteAPIKey, id) }
func (s scoped) KeyUse(id string) (store.KeyUse, error) { return get1(s.keyOwner(id), s.Tx.KeyUse, id) }
func (s scoped) PutKeyUse(id string, u store.KeyUse) error {
	return do2(s.keyOwner(id), s.Tx.PutKeyUse, id, u)
}

func (s scoped) Endpoint(org, id string) (store.Endpoint, error) {
	e, err := get2(s.org(org), s.Tx.Endpoint, org, id)
	if err == nil {
		s.met(e)
	}
	return e, err
}

func (s scoped) Endpoints(org string) ([]store.Endpoint, error) {
	list, err := get1(s.org(org), s.Tx.Endpoints, org)
	s.met(list...)
	return list, err
}

func (s scoped) AddEndpoint(e store.Endpoint) (store.Endpoint, error) {
	e, err := get1(s.org(e.OrgID), s.Tx.AddEndpoint, e)
	if err == nil {
		s.met(e)
	}
	return e, err
}

func (s scoped) PutEndpoint(e store.Endpoint) error { return do1(s.org(e.OrgID), s.Tx.PutEndpoint, e) }
func (s scoped) DeleteEndpoint(e store.Endpoint) error {
	return do1(s.org(e.OrgID), s.Tx.DeleteEndpoint, e)
}
func (s scoped) RemovedEndpoints(int) ([]uint64, error) { return nil, s.all("the removed endpoints") }
func (s scoped) ForgetEndpoint(uint64) error            { return s.all("forgetting an endpoint") }

func (s scoped) AddEvent(e store.Event, deliveries []store.Delivery) error {
	return do2(s.org(e.OrgID), s.Tx.AddEvent, e, deliveries)
}

func (s scoped) Event(id string) (store.Event, error) {
	e, err := s.Tx.Event(id)
	if err == nil && !slices.Contains(s.scope.Orgs, e.OrgID) {
		e = store.Event{ID: e.ID, OrgID: e.OrgID}
	}
	return e, err
}

func (s scoped) Delivery(id string) (store.Delivery, error) {
	d, err := s.Tx.Delivery(id)
	switch {
	case err != nil:
	case slices.Contains(s.scope.Orgs, d.OrgID):
		s.numbers[d.EndpointNumber] = true
	default:
		d = store.Delivery{ID: d.ID, OrgID: d.OrgID}
	}
	return d, err
}

func (s scoped) PutDelivery(d store.Delivery) error { return do1(s.org(d.OrgID), s.Tx.PutDelivery, d) }

func (s scoped) DeleteDelivery(id string) error {
	return do1(owned(s.Tx.Delivery, id, func(d store.Delivery) error { return s.org(d.OrgID) }), s.Tx.DeleteDelivery, id)
}

func (s scoped) ReadToDelete([]string) error { return s.all("deliveries to be deleted") }

func (s scoped) DeliveryPage(endpoint uint64, list store.DeliveryList, after store.Cursor, limit int) (page []store.Delivery, more bool, err error) {
	if err := s.number(endpoint); err != nil {
		return nil, false, err
	}
	return s.Tx.DeliveryPage(endpoint, list, after, limit)
}

func (s scoped) LatestDeliveries(endpoints []uint64, lists []store.DeliveryList, before store.Cursor, limit int) ([]store.Delivery, error) {
	for _, endpoint := range endpoints {
		if err := s.number(endpoint); err != nil {
			return nil, err
		}
	}
	return s.Tx.LatestDeliveries(endpoints, lists, before, limit)
}

func (s scoped) CountWaiting(e store.Endpoint, most int) (store.Waiting, error) {
	return get2(s.org(e.OrgID), s.Tx.CountWaiting, e, most)
}

func (s scoped) FinishedBefore(time.Time, int) ([]string, error) {
	return nil, s.all("the finished deliveries of all")
}

func (s scoped) HeldBefore(time.Time, int) ([]string, error) {
	return nil, s.all("the held deliveries of all")
}

func (s scoped) LastAcknowledged(endpoint uint64) (time.Time, error) {
	return get1(s.number(endpoint), s.Tx.LastAcknowledged, endpoint)
}

func (s scoped) PutLastAcknowledged(endpoint uint64, at time.Time) error {
	return do2(s.number(endpoint), s.Tx.PutLastAcknowledged, endpoint, at)
}

func (s scoped) AddDeliveryCounts(org string, endpoint uint64, at time.Time, c store.DeliveryCounts) error {
	if err := s.org(org); err != nil {
		return err
	}
	return s.Tx.AddDeliveryCounts(org, endpoint, at, c)
}

func (s scoped) EachDeliveryCounts(org string, from time.Time, fn func(uint64, time.Time, store.DeliveryCounts)) error {
	if err := s.org(org); err != nil {
		return err
	}
	return s.Tx.EachDeliveryCounts(org, from, fn)
}

func (s scoped) DropDeliveryCounts(time.Time, int) (int, error) { return 0, s.all("the counts of all") }

func (s scoped) DropDeliveryCountsOf(org string, limit int) (int, error) {
	return get2(s.org(org), s.Tx.DropDeliveryCountsOf, org, limit)
}

func (s scoped) PutReplayJob(j store.ReplayJob) error {
	return do1(s.org(j.OrgID), s.Tx.PutReplayJob, j)
}

func (s scoped) ReplayJob(id string) (store.ReplayJob, error) {
	j, err := s.Tx.ReplayJob(id)
	if err == nil && !slices.Contains(s.scope.Orgs, j.OrgID) {
		j = store.ReplayJob{ID: j.ID, OrgID: j.OrgID}
	}
	return j, err
}

func (s scoped) DeleteReplayJob(id string) error {
	return do1(owned(s.Tx.ReplayJob, id, func(j store.ReplayJob) error { return s.org(j.OrgID) }), s.Tx.DeleteReplayJob, id)
}

func (s scoped) ReplayJobs(org, after string, limit int) ([]store.ReplayJob, error) {
	if err := s.org(org); err != nil {
		return nil, err
	}
	return s.Tx.ReplayJobs(org, after, limit)
}

func (s scoped) AllReplayJobs(string, int) ([]store.ReplayJob, error) {
	return nil, s.all("the replays of all")
}

func (s scoped) PutMail(m store.Mail) error              { return do1(s.org(m.OrgID), s.Tx.PutMail, m) }
func (s scoped) Mails(string, int) ([]store.Mail, error) { return nil, s.all("the mail of all") }

func (s scoped) Mail(id string) (store.Mail, error) {
	m, err := s.Tx.Mail(id)
	if err == nil {
		err = s.org(m.OrgID)
	}
	return m, err
}

func (s scoped) DeleteMail(id string) error {
	m, err := s.Tx.Mail(id)
	switch {
	case err == nil:
		err = s.org(m.OrgID)
	case store.IsNotFound(err):
		err = nil
	}
	return do1(err, s.Tx.DeleteMail, id)
}

func (s scoped) IdempotencyRecord(org, key string) (store.IdempotencyRecord, error) {
	return get2(s.key(org, key), s.Tx.IdempotencyRecord, org, key)
}

func (s scoped) AddIdempotencyRecord(r store.IdempotencyRecord) error {
	return do1(s.key(r.OrgID, r.Key), s.Tx.AddIdempotencyRecord, r)
}

func (s scoped) ExpireIdempotencyRecords(int) (int, error) {
	return 0, s.all("the expired idempotency records of all")
}

func (s scoped) IdempotencyKeys(string, string, int) ([]string, string, error) {
	return nil, "", s.all("a list of idempotency keys")
}

func (s scoped) DeleteIdempotencyRecord(org, key string) error {
	return do2(s.key(org, key), s.Tx.DeleteIdempotencyRecord, org, key)
}

func (s scoped) Account(user string) (store.Account, error) {
	return get1(s.user(user), s.Tx.Account, user)
}

func (s scoped) AccountByEmail(string) (store.Account, error) {
	return store.Account{}, s.all("whose account has an address")
}

func (s scoped) PutAccount(a store.Account) error { return do1(s.user(a.UserID), s.Tx.PutAccount, a) }
func (s scoped) DeleteAccount(user string) error  { return do1(s.user(user), s.Tx.DeleteAccount, user) }
func (s scoped) PutSession(v store.Session) error { return do1(s.user(v.UserID), s.Tx.PutSession, v) }
func (s scoped) PutSignInLink(l store.SignInLink) error {
	return do1(s.user(l.UserID), s.Tx.PutSignInLink, l)
}

func (s scoped) Session(id string) (store.Session, error) {
	v, err := s.Tx.Session(id)
	if err == nil && !slices.Contains(s.scope.Users, v.UserID) {
		v = store.Session{ID: v.ID, UserID: v.UserID}
	}
	return v, err
}

func (s scoped) DeleteSession(id string) error {
	return do1(owned(s.Tx.Session, id, func(v store.Session) error { return s.user(v.UserID) }), s.Tx.DeleteSession, id)
}

func (s scoped) SignInLink(id string) (store.SignInLink, error) {
	l, err := s.Tx.SignInLink(id)
	if err == nil && !slices.Contains(s.scope.Users, l.UserID) {
		l = store.SignInLink{ID: l.ID, UserID: l.UserID}
	}
	return l, err
}

func (s scoped) DeleteSignInLink(id string) error {
	return do1(owned(s.Tx.SignInLink, id, func(l store.SignInLink) error { return s.user(l.UserID) }), s.Tx.DeleteSignInLink, id)
}

func (s scoped) Sessions(string, int) ([]store.Session, error) {
	return nil, s.all("the sessions of all")
}

func (s scoped) SignInLinks(string, int) ([]store.SignInLink, error) {
	return nil, s.all("the sign-in links of all")
}
