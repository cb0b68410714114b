package page_test

import (
	"net/http"
	"regexp"
	"slices"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
	"teamdata/store"
)

// pullPages are the pages of what fillPulls and passHourOfPulls made, which no others have.
var pullPages = []string{
	loaders, loaders + "/endpoints", loaders + "/endpoints?state=silent", loaders + "/deliveries", loaders + "/deliveries?state=leased", loaders + "/events", loaders + "/keys", loaders + "/keys/key_worker",
	loaders + "/new-key?scopes=receive&endpoints=whe_loader",
	loaders + "/endpoints/whe_loader", loaders + "/endpoints/whe_loader?range=7d", loaders + "/endpoints/whe_loader/deliveries", loaders + "/endpoints/whe_loader/settings", loaders + "/endpoints/whe_loader/setup",
	loaders + "/endpoints/whe_loader/verify", loaders + "/endpoints/whe_loader/rotate", loaders + "/endpoints/whe_loader/delete", loaders + "/endpoints/whe_loader/disable",
	loaders + "/endpoints/whe_silent", loaders + "/endpoints/whe_off", loaders + "/endpoints/whe_fresh", loaders + "/endpoints/whe_fresh/settings", loaders + "/endpoints/whe_fresh/setup?added=yes",
	"/settings/orgs/org_hostile/endpoints/whe_hostilepull", "/settings/orgs/org_hostile/endpoints/whe_hostilepull/settings", "/settings/orgs/org_hostile/endpoints/whe_hostilepull/setup",
}

const loaders = "/settings/orgs/org_loaders"

// fillPulls adds an org whose endpoints are pulled, of which nobody pulls the silent one any
// more.
func fillPulls(tx store.Tx) error {
	if _, err := store.CreateOrg(tx, "", store.Org{ID: "org_loaders", Name: "Loaders", Subscription: store.Subscription{Plan: "business", Interval: "month"}}); err != nil {
		return err
	}
	ada := store.Member{OrgID: "org_loaders", UserID: "usr_ada", Role: store.RoleOwner, Name: "Ada Okafor", Email: "ada@acme.example"}
	if _, err := store.AddMember(tx, "", ada); err != nil {
		return err
	}
	for id, description := range map[string]string{"whe_loader": "Warehouse loader", "whe_silent": "Laptop of the night shift", "whe_off": "", "whe_hostilepull": hostileName} {
		e := store.Endpoint{ID: id, OrgID: "org_loaders", Description: description, Events: []string{"*"}}
		if id == "whe_hostilepull" {
			e.OrgID = "org_hostile"
		}
		if _, err := store.CreateEndpoint(tx, "usr_ada", e); err != nil {
			return err
		}
	}
	_, err := store.ImportKey(tx, store.APIKey{ID: "key_worker", OrgID: "org_loaders", Name: "worker", Scopes: store.ScopeReceive, Endpoints: []string{"whe_loader", "whe_silent"}, CreatedBy: "usr_ada"})
	return err
}

// passHourOfPulls makes some events, which a worker pulls: of the silent endpoint until 13
// hours ago.
func passHourOfPulls(tx store.Tx, hour int) error {
	for range 1 + (hour*5)%7 {
		if _, err := store.Emit(tx, "org_loaders", "invoice.paid", []byte(`{"orgId":"org_loaders"}`)); err != nil {
			return err
		}
	}
	for _, id := range []string{"whe_loader", "whe_silent"} {
		if id == "whe_silent" && hour > 720-14 {
			continue
		}
		got, err := pullAs(tx, id, 100, store.MinLease)
		for _, d := range got {
			if err == nil {
				err = store.AckDeliveries(tx, worker, id, []string{d.DeliveryID})
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

var worker = &store.APIKey{ID: "key_worker", OrgID: "org_loaders", Scopes: store.ScopeReceive}

// pullAs pulls as the worker, which is not acknowledged.
func pullAs(tx store.Tx, endpoint string, limit int, lease time.Duration) (got []store.LeaseOf, err error) {
	claims, err := store.Pull(tx, endpoint, store.PullRequest{Key: worker, Limit: limit, Lease: lease})
	for _, c := range claims.Claims {
		got = append(got, store.LeaseOf{DeliveryID: c.Delivery.ID, Lease: c.Delivery.Lease().ID})
	}
	return got, err
}

// leavePulls leaves a delivery in each of the states.
func leavePulls(tx store.Tx) error {
	for range 6 {
		if _, err := store.SendTest(tx, "org_loaders", "whe_loader"); err != nil {
			return err
		}
	}
	got, err := pullAs(tx, "whe_loader", 4, store.MaxLease)
	if err != nil {
		return err
	}
	hour := time.Hour
	for _, nack := range []struct {
		of       store.LeaseOf
		reason   string
		delay    *time.Duration
		schedule []time.Duration
	}{{got[0], "the disk of the warehouse is full", &hour, halves}, {got[1], "the order is not known here " + hostileName[:100], nil, nil}} {
		if err := store.NackDeliveries(tx, worker, "whe_loader", []store.LeaseOf{nack.of}, nack.reason, nack.delay, nack.schedule); err != nil {
			return err
		}
	}
	if _, err := store.SendTest(tx, "org_hostile", "whe_hostilepull"); err != nil {
		return err
	}
	if err := store.DisableEndpoint(tx, "usr_ada", "org_loaders", "whe_off"); err != nil {
		return err
	}
	_, err = store.CreateEndpoint(tx, "usr_ada", store.Endpoint{ID: "whe_fresh", OrgID: "org_loaders", Description: "Not yet in use", Events: []string{"*"}})
	return err
}

// deliveryPages are the pages of the deliveries that a page leads to, one of each state.
func deliveryPages(p *program.Process, cookie, path string) (paths []string) {
	p.T.Helper()
	r, err := http.NewRequest("GET", p.URL+path, nil)
	kit.Must(p.T, err)
	r.Header.Set("Cookie", "__Host-teamdata="+cookie)
	page := kit.Fetch(p.T, p.Client, r).Body
	states := map[string]bool{}
	for _, row := range regexp.MustCompile(`(?s)href="(/settings/[^"]*/deliveries/whd_\w+)".*?<span class="state[^>]*>.*?</span>`).FindAllStringSubmatch(page, -1) {
		state := regexp.MustCompile(`(\w[\w ]*)</span>$`).FindStringSubmatch(row[0])[1]
		if !states[state] {
			states[state], paths = true, append(paths, row[1])
		}
	}
	want := []string{"Acknowledged", "Failed", "Given back", "Leased", "Waiting"}
	for _, state := range want {
		if !states[state] {
			p.T.Errorf("%s shows no delivery that is %s", path, state)
		}
	}
	return slices.Clip(paths)
}
