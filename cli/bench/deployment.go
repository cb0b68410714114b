package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"teamdata/store"
)

// org is one of a data file: on the plan business, with an owner whose key may do
// everything.
type org struct {
	number  int
	secret  string   // of its key
	urls    []string // of its endpoints
	members int      // beside the owner
}

func newOrg(number, members int, urls ...string) *org {
	return &org{number, store.NewSecret(), urls, members}
}

func (o *org) id() string              { return fmt.Sprintf("org_bench_%02d", o.number) }
func (o *org) keyID() string           { return fmt.Sprintf("key_bench_%02d", o.number) }
func (o *org) key() string             { return o.keyID() + "." + o.secret }
func (o *org) endpointID(i int) string { return fmt.Sprintf("whe_bench_%02d_%02d", o.number, i) }
func (o *org) test(endpoint int) string {
	return requestOf("POST", "/webhooks/"+o.endpointID(endpoint)+"/test", o.key())
}
func (o *org) testInTurn(i int) string { return o.test(i % len(o.urls)) }

// record is the org as a fixture has it.
func (o *org) record() map[string]any {
	members := []map[string]any{{"userId": "usr_owner", "role": store.RoleOwner}}
	for i := range o.members {
		members = append(members, map[string]any{"userId": fmt.Sprintf("usr_%06d", i), "role": store.RoleMember})
	}
	webhooks := []map[string]any{}
	for i, url := range o.urls {
		webhooks = append(webhooks, map[string]any{"id": o.endpointID(i), "url": url, "events": []string{store.EventWebhookTest}})
	}
	return map[string]any{
		"id": o.id(), "name": "Bench", "members": members, "webhooks": webhooks,
		"subscription": map[string]any{"product": "teamdata", "plan": "business", "interval": "none", "status": "active"},
		"apiKeys":      []map[string]any{{"id": o.keyID(), "secret": o.secret, "scopes": []string{"read", "write"}, "createdBy": "usr_owner"}},
	}
}

// writeSeed writes a fixture of orgs.
func writeSeed(path string, orgs ...*org) error {
	var seed struct {
		Orgs []map[string]any `json:"orgs"`
	}
	for _, o := range orgs {
		seed.Orgs = append(seed.Orgs, o.record())
	}
	text, err := json.Marshal(seed)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

// deployment is a server with its data and the receiver of its webhooks.
type deployment struct {
	*server
	clients
	session  *session
	org      *org
	receiver *receiver
	events   int       // sent so far
	accepted []float64 // answers a second, round by round
}

// deploy serves a new data file with an org and so many endpoints and members. The
// receiver of silent endpoints takes one webhook at a time and does not answer it,
// so that the server has little to do but accept.
func (s *session) deploy(ctx context.Context, name string, endpoints int, silent bool, members int, flags ...string) (*deployment, error) {
	r, err := s.newReceiver(ctx, name+".ca")
	if err != nil {
		return nil, err
	}
	urls, err := r.listen(endpoints, silent)
	if err != nil {
		return nil, err
	}
	o, seed := newOrg(0, members, urls...), s.path(name+".json")
	if err := writeSeed(seed, o); err != nil {
		return nil, err
	}
	v, err := s.serve(ctx, s.path(name+".db"), r.caFile, append(flags, "--seed", seed)...)
	return &deployment{server: v, session: s, org: o, receiver: r}, err
}

// deployWarm serves an org whose endpoints acknowledge, and warms it up: their
// windows are open.
func (s *session) deployWarm(ctx context.Context, name string) (*deployment, error) {
	d, err := s.deploy(ctx, name, deliveryEndpoints, false, 0)
	if err == nil {
		_, err = d.turn(ctx, s.warmUp())
		d.accepted = nil
	}
	return d, err
}

// connect connects or reconnects the clients: a server closes connections that
// idle during a long turn of the baseline.
func (d *deployment) connect(ctx context.Context) (err error) {
	d.clients.close()
	d.clients, err = d.session.connect(ctx, d.target, connections)
	return err
}

// turn sends events on new connections, and returns how many a second came to
// their receivers.
func (d *deployment) turn(ctx context.Context, events int) (float64, error) {
	if err := d.connect(ctx); err != nil {
		return 0, err
	}
	start := time.Now()
	var begun atomic.Int64
	_, took, err := d.closedLoop(ctx, time.Hour, func() bool { return begun.Add(1) <= int64(events) }, d.org.testInTurn)
	if err != nil {
		return 0, err
	}
	d.accepted = append(d.accepted, float64(events)/took.Seconds())
	d.events += events
	last, err := d.receiver.await(ctx, d.events)
	return float64(events) / last.Sub(start).Seconds(), err
}

// sample is one event on its way.
type sample struct {
	id             string
	sent, answered time.Time
}

// openLoop sends n events evenly spaced, waits until all were received, and reports
// how long each took.
func (d *deployment) openLoop(ctx context.Context, n int, every time.Duration, request func(k int) string) (delays, error) {
	before := d.receiver.count()
	samples, err := d.sendEvenly(ctx, n, every, request)
	if err == nil {
		_, err = d.receiver.await(ctx, before+n)
	}
	return d.receiver.delays(samples), err
}

// sendEvenly sends n events evenly spaced, whatever the answers take: request(k) is
// that of number k. A client that is still busy when its turn comes sends late, and
// the wait counts.
func (d *deployment) sendEvenly(ctx context.Context, n int, every time.Duration, request func(k int) string) ([]sample, error) {
	samples, start := make([]sample, n), time.Now()
	return samples, d.all(ctx, time.Duration(n)*every, func(i int) error {
		free := start
		for k := i; k < n; k += len(d.clients) {
			at := start.Add(time.Duration(k) * every)
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Until(at)):
			}
			sent := time.Now()
			if free.After(at) {
				sent = at
			}
			if err := d.clients[i].do(request(k)); err != nil {
				return err
			}
			free = time.Now()
			samples[k] = sample{d.clients[i].deliveryID(), sent, free}
		}
		return nil
	})
}
