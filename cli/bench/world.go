package bench

import (
	"context"
	"errors"
	"fmt"
	"os"

	"teamdata/store"
	"teamdata/store/boltstore"
)

// world is what a data file is filled with. The orgs are alike: on the plan
// business, with an owner whose key may do everything.
type world struct {
	data string
	orgs []tenant
}

// tenant is an org of a world.
type tenant struct {
	id        string
	key       string   // `<id>.<secret>`
	urls      []string // of its endpoints
	endpoints []store.Endpoint
	members   int // beside the owner
}

// writer writes more to a data file that is being filled.
type writer func(context.Context, store.Store, *world) error

// newWorld fills a new data file; nothing that has it open may sync less than
// the appliance, so it is closed again. More is written by the functions in
// more, before that.
func newWorld(ctx context.Context, data string, orgs []tenant, more ...writer) (w *world, err error) {
	w = &world{data: data, orgs: orgs}
	s, err := boltstore.Open(data, boltstore.Options{NoSync: true})
	if err != nil {
		return nil, err
	}
	for i := range w.orgs {
		err = s.Update(ctx, func(tx store.Tx) error { return w.orgs[i].write(tx, i) })
		if err != nil {
			break
		}
	}
	for _, fn := range more {
		if err == nil {
			err = fn(ctx, s, w)
		}
	}
	if err = errors.Join(err, s.Close()); err != nil {
		return nil, err
	}
	return w, syncFile(data)
}

// syncFile brings to the disk what was written without a sync, so that the
// first commit of the appliance does not have to.
func syncFile(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

const owner = "usr_owner"

func (o *tenant) write(tx store.Tx, number int) error {
	o.id = fmt.Sprintf("org_bench_%02d", number)
	_, err := store.ImportOrg(tx, store.Org{ID: o.id, Name: "Bench", Subscription: store.Subscription{
		Product: "teamdata", Plan: "business", Interval: "none", Status: "active",
	}})
	if err != nil {
		return err
	}
	if err := o.writePeople(tx); err != nil {
		return err
	}
	secret, id := store.NewSecret(), fmt.Sprintf("key_bench_%02d", number)
	o.key = id + "." + secret
	_, err = store.ImportKey(tx, store.APIKey{
		ID: id, OrgID: o.id, SecretHash: store.HashSecret(secret), Scopes: store.ScopeRead | store.ScopeWrite, CreatedBy: owner,
	})
	if err != nil {
		return err
	}
	return o.writeEndpoints(tx, number)
}

func (o *tenant) writePeople(tx store.Tx) error {
	if _, err := store.ImportMember(tx, store.Member{OrgID: o.id, UserID: owner, Role: store.RoleOwner}); err != nil {
		return err
	}
	for i := range o.members {
		m := store.Member{OrgID: o.id, UserID: fmt.Sprintf("usr_%06d", i), Role: store.RoleMember}
		if _, err := store.ImportMember(tx, m); err != nil {
			return err
		}
	}
	return nil
}

func (o *tenant) writeEndpoints(tx store.Tx, number int) error {
	o.endpoints = nil // an Update may run twice
	for i, url := range o.urls {
		e, err := store.ImportEndpoint(tx, store.Endpoint{
			ID: fmt.Sprintf("whe_bench_%02d_%02d", number, i), OrgID: o.id, URL: url, Events: []string{store.EventWebhookTest},
		})
		if err != nil {
			return err
		}
		o.endpoints = append(o.endpoints, e)
	}
	return nil
}

// test is the request that sends a test event to an endpoint.
func (o *tenant) test(endpoint int) string {
	return requestOf("POST", "/webhooks/"+o.endpoints[endpoint].ID+"/test", o.key)
}

// inTurn are the tests of all endpoints of the org, for caller after caller.
func (o *tenant) inTurn(i int) string { return o.test(i % len(o.endpoints)) }

// waiting counts the deliveries in a data file that no process has open, for
// which an attempt is still to come.
func (w *world) waiting(ctx context.Context) (n int, err error) {
	s, err := boltstore.Open(w.data, boltstore.Options{})
	if err != nil {
		return 0, err
	}
	defer s.Close()
	return n, s.View(ctx, func(tx store.Tx) error {
		for i := range w.orgs {
			for _, e := range w.orgs[i].endpoints {
				page, more, err := tx.DeliveryPage(e.Number, store.ListWaiting, store.Cursor{}, 1000)
				if err != nil {
					return err
				}
				if n += len(page); more {
					n++ // enough to tell that not all is well
				}
			}
		}
		return nil
	})
}
