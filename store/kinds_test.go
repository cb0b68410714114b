package store_test

import (
	"errors"
	"fmt"

	"teamdata/store"
)

// kinds are the kinds of records that a store just keeps. A new kind, or a new value kept
// beside a record, is a row; a new field of a record needs no line.
var kinds = []tested{
	kind[store.Org]{name: "Orgs", id: func(o *store.Org) *string { return &o.ID },
		put: store.Tx.PutOrg, get: func(tx store.Tx, o store.Org) (store.Org, error) { return tx.Org(o.ID) },
		list: store.Tx.Orgs, drop: func(tx store.Tx, id string) error { return errors.Join(tx.DeleteOrg(id), tx.ForgetOrg(id)) }},
	kind[store.Plan]{name: "Plans", id: func(p *store.Plan) *string { return &p.Name },
		put: store.Tx.PutPlan, get: func(tx store.Tx, p store.Plan) (store.Plan, error) { return tx.Plan(p.Name) },
		all: store.Tx.Plans, drop: store.Tx.DeletePlan},
	kind[instructions]{name: "Instructions", id: func(i *instructions) *string { return &i.OrgID }, unset: true,
		put: func(tx store.Tx, i instructions) error { return tx.PutInstructions(i.OrgID, i.Instructions) },
		get: func(tx store.Tx, i instructions) (_ instructions, err error) {
			i.Instructions, err = tx.Instructions(i.OrgID)
			return i, err
		}},
	membersOf(acme),
	endpointsOf(acme),
	keysOf(acme),
	kind[keyUse]{name: "KeyUse", id: func(u *keyUse) *string { return &u.KeyID }, unset: true,
		put: func(tx store.Tx, u keyUse) error {
			return errors.Join(needKey(tx, u.KeyID), tx.PutKeyUse(u.KeyID, u.KeyUse))
		},
		get: func(tx store.Tx, u keyUse) (_ keyUse, err error) {
			u.KeyUse, err = tx.KeyUse(u.KeyID)
			return u, err
		},
		drop: store.Tx.DeleteAPIKey},
	kind[certificate]{name: "Certificates", id: func(c *certificate) *string { return &c.Name },
		put: func(tx store.Tx, c certificate) error { return tx.PutCertificate(c.Name, c.PEM) },
		get: func(tx store.Tx, c certificate) (_ certificate, err error) {
			c.PEM, err = tx.Certificate(c.Name)
			return c, err
		}},
	kind[store.EventType]{name: "EventTypes", id: func(e *store.EventType) *string { return &e.Name },
		put: store.Tx.PutEventType, get: func(tx store.Tx, e store.EventType) (store.EventType, error) { return tx.EventType(e.Name) },
		all: store.Tx.EventTypes, drop: store.Tx.DeleteEventType},
	kind[store.OperatorToken]{name: "OperatorTokens", id: func(o *store.OperatorToken) *string { return &o.ID },
		put: store.Tx.PutOperatorToken,
		get: func(tx store.Tx, o store.OperatorToken) (store.OperatorToken, error) { return tx.OperatorToken(o.ID) },
		all: store.Tx.OperatorTokens, drop: store.Tx.DeleteOperatorToken},
	kind[store.Account]{name: "Accounts", id: func(a *store.Account) *string { return &a.UserID },
		put: store.Tx.PutAccount, get: func(tx store.Tx, a store.Account) (store.Account, error) { return tx.Account(a.UserID) },
		drop: store.Tx.DeleteAccount},
	kind[store.Session]{name: "Sessions", id: func(v *store.Session) *string { return &v.ID },
		put: store.Tx.PutSession, get: func(tx store.Tx, v store.Session) (store.Session, error) { return tx.Session(v.ID) },
		list: store.Tx.Sessions, drop: store.Tx.DeleteSession},
	kind[store.SignInLink]{name: "SignInLinks", id: func(l *store.SignInLink) *string { return &l.ID },
		put: store.Tx.PutSignInLink, get: func(tx store.Tx, l store.SignInLink) (store.SignInLink, error) { return tx.SignInLink(l.ID) },
		list: store.Tx.SignInLinks, drop: store.Tx.DeleteSignInLink},
	replaysOf(acme),
	kind[store.ReplayJob]{name: "AllReplayJobs", id: func(j *store.ReplayJob) *string { return &j.ID },
		own: func(j *store.ReplayJob) { j.OrgID = other },
		put: store.Tx.PutReplayJob, get: func(tx store.Tx, j store.ReplayJob) (store.ReplayJob, error) { return tx.ReplayJob(j.ID) },
		list: store.Tx.AllReplayJobs, drop: store.Tx.DeleteReplayJob},
	kind[store.Mail]{name: "Mails", id: func(m *store.Mail) *string { return &m.ID },
		put: store.Tx.PutMail, get: func(tx store.Tx, m store.Mail) (store.Mail, error) { return tx.Mail(m.ID) },
		list: store.Tx.Mails, drop: store.Tx.DeleteMail},
	kind[store.Event]{name: "Events", id: func(e *store.Event) *string { return &e.ID },
		own: func(e *store.Event) { e.Deliveries = append(e.Deliveries, "of "+e.ID) },
		put: func(tx store.Tx, e store.Event) error {
			return tx.AddEvent(e, []store.Delivery{{ID: "of " + e.ID, EventID: e.ID, State: store.StatePending}})
		},
		get:  func(tx store.Tx, e store.Event) (store.Event, error) { return tx.Event(e.ID) },
		drop: func(tx store.Tx, id string) error { return tx.DeleteDelivery("of " + id) }, once: true},
	kind[store.Delivery]{name: "Deliveries", id: func(d *store.Delivery) *string { return &d.ID },
		own: func(d *store.Delivery) {
			d.State, d.EventID = store.StatePending+d.State%store.StateFailed, store.PrefixEvent+d.ID
			if d.Leases = d.Leases[:0]; d.EndpointNumber%2 == 0 {
				d.State, d.Leases = store.StateLeased, d.Leases[:min(1, cap(d.Leases))]
			}
		},
		put: putDelivery, get: func(tx store.Tx, d store.Delivery) (store.Delivery, error) { return tx.Delivery(d.ID) },
		drop: store.Tx.DeleteDelivery},
}

// membersOf have one time, so that their order is that of their ids.
func membersOf(org string) kind[store.Member] {
	return kind[store.Member]{name: "Members", id: func(m *store.Member) *string { return &m.UserID },
		own: func(m *store.Member) { m.OrgID, m.ID, m.CreatedAt = org, m.UserID, someTime },
		put: putMember, get: func(tx store.Tx, m store.Member) (store.Member, error) { return tx.Member(org, m.UserID) },
		list: func(tx store.Tx, after string, limit int) (found []store.Member, err error) {
			page, errPage := tx.MemberPage(org, store.CursorOf(someTime, after), limit, nil)
			_, found, errList := tx.ListMembers(org, store.CursorOf(someTime, after), limit)
			if shown := pageOf(found, func(m store.Member) store.Cursor { return store.CursorOf(m.CreatedAt, m.ID) }, store.Member.AppendJSON, 1, store.Cursor{}, limit, nil); string(shown.Items) != string(page.Items) {
				err = fmt.Errorf("the list shows %s, and the members are %s", page.Items, shown.Items)
			}
			return found, errors.Join(err, errPage, errList)
		},
		drop: func(tx store.Tx, id string) error { return tx.DeleteMember(org, id) }}
}

// endpointsOf show no numbers, which the engine gives.
func endpointsOf(org string) kind[store.Endpoint] {
	find := func(tx store.Tx, id string) (store.Endpoint, uint64, error) {
		e, err := tx.Endpoint(org, id)
		number := e.Number
		e.Number = 0
		return e, number, err
	}
	return kind[store.Endpoint]{name: "Endpoints", id: func(e *store.Endpoint) *string { return &e.ID },
		own: func(e *store.Endpoint) { e.OrgID, e.Number = org, 0 },
		put: func(tx store.Tx, e store.Endpoint) (err error) {
			if _, e.Number, err = find(tx, e.ID); store.IsNotFound(err) {
				return second(tx.AddEndpoint(e))
			}
			return errors.Join(err, tx.PutEndpoint(e))
		},
		get: func(tx store.Tx, e store.Endpoint) (store.Endpoint, error) {
			e, _, err := find(tx, e.ID)
			return e, err
		},
		all: func(tx store.Tx) ([]store.Endpoint, error) {
			list, err := tx.Endpoints(org)
			for i := range list {
				list[i].Number = 0
			}
			return list, err
		},
		drop: func(tx store.Tx, id string) error {
			e, err := tx.Endpoint(org, id)
			if err != nil {
				return err
			}
			return tx.DeleteEndpoint(e)
		}}
}

func keysOf(org string) kind[store.APIKey] {
	return kind[store.APIKey]{name: "APIKeys", id: func(k *store.APIKey) *string { return &k.ID },
		own: func(k *store.APIKey) { k.OrgID = org },
		put: store.Tx.PutAPIKey, get: func(tx store.Tx, k store.APIKey) (store.APIKey, error) { return tx.APIKey(k.ID) },
		list: func(tx store.Tx, after string, limit int) ([]store.APIKey, error) {
			return tx.APIKeys(org, after, limit)
		},
		drop: store.Tx.DeleteAPIKey}
}

func replaysOf(org string) kind[store.ReplayJob] {
	return kind[store.ReplayJob]{name: "ReplayJobs", id: func(j *store.ReplayJob) *string { return &j.ID },
		own: func(j *store.ReplayJob) { j.OrgID = org },
		put: store.Tx.PutReplayJob, get: func(tx store.Tx, j store.ReplayJob) (store.ReplayJob, error) { return tx.ReplayJob(j.ID) },
		list: func(tx store.Tx, after string, limit int) ([]store.ReplayJob, error) {
			return tx.ReplayJobs(org, after, limit)
		},
		drop: store.Tx.DeleteReplayJob}
}

// instructions, certificate and keyUse are kept under a name that is not in them.
type instructions struct {
	OrgID string
	store.Instructions
}

type certificate struct {
	Name string
	PEM  []byte
}

type keyUse struct {
	KeyID string
	store.KeyUse
}

// needKey makes a key that is not there, for what is kept beside it.
func needKey(tx store.Tx, id string) error {
	_, err := tx.APIKey(id)
	if store.IsNotFound(err) {
		return tx.PutAPIKey(store.APIKey{ID: id, OrgID: acme})
	}
	return err
}

func appendMember(tx store.Tx, m store.Member) error { return second(tx.AppendMember(m)) }

func putMember(tx store.Tx, m store.Member) error {
	if err := tx.PutMember(m); !store.IsNotFound(err) {
		return err
	}
	return appendMember(tx, m)
}

func putDelivery(tx store.Tx, d store.Delivery) error {
	if err := tx.PutDelivery(d); !store.IsNotFound(err) {
		return err
	}
	return tx.AddEvent(store.Event{ID: d.EventID, Deliveries: []string{d.ID}}, []store.Delivery{d})
}
