package settings

import (
	"strconv"
	"time"

	"teamdata/store"
)

// Bounds of what the overview counts.
const (
	countedMembers = 1000
	countedKeys    = 100
	manyWaiting    = 100 // waiting deliveries that make an endpoint need attention
)

type overviewPage struct {
	Endpoints, Members, Keys string // formatted counts
	NoEndpoint, NoKey        bool
	Attention                []endpointRow // endpoints that need attention
	Quiet                    bool          // nothing was sent in 30 days
	Charts                   []chart
	NoMail                   bool // mail is waiting, and there is no mail server
	NoAPI, NoWebhooks        bool // the plan does not include them
	URL                      string
}

func (r *request) showOverview() error {
	p := overviewPage{URL: r.s.config.PublicURL}
	return r.show(200, "overview", &p, func(tx store.Tx) error {
		for _, load := range []func(*request, store.Tx) error{
			p.count, p.findEndpoints, p.findAttempts, p.findMail, p.findFeatures,
		} {
			if err := load(r, tx); err != nil {
				return err
			}
		}
		return nil
	})
}

// count counts members and keys, as far as that is cheap.
func (p *overviewPage) count(r *request, tx store.Tx) error {
	members, err := tx.MemberPage(r.org.ID, store.Cursor{}, countedMembers, nil)
	if err != nil {
		return err
	}
	keys, err := tx.APIKeys(r.org.ID, "", countedKeys+1)
	p.Members, p.Keys = formatCount(members.Count, members.More), formatCount(min(len(keys), countedKeys), len(keys) > countedKeys)
	p.NoKey = len(keys) == 0
	return err
}

func (p *overviewPage) findEndpoints(r *request, tx store.Tx) error {
	endpoints, err := tx.Endpoints(r.org.ID)
	if err != nil {
		return err
	}
	p.Endpoints, p.NoEndpoint = strconv.Itoa(len(endpoints)), len(endpoints) == 0
	rows, err := r.rows(tx, endpoints)
	for _, row := range rows {
		if row.Disabled() || row.Health.Failed > 0 || row.Health.ManyWaiting() {
			p.Attention = append(p.Attention, row)
		}
	}
	return err
}

func (p *overviewPage) findAttempts(r *request, tx store.Tx) error {
	day, month := newTimeSeries(r.now, time.Hour, 24), newTimeSeries(r.now, 24*time.Hour, 30)
	p.Quiet = true
	err := tx.EachDeliveryCounts(r.org.ID, month.Points[0].From, func(_ uint64, hour time.Time, c store.DeliveryCounts) {
		day.add(hour, c)
		month.add(hour, c)
		p.Quiet = false
	})
	p.Charts = []chart{
		outcomesChart("attempts-day", "Attempts in the last 24 hours", day),
		latencyChart("latency-day", "Latency in the last 24 hours", day),
		outcomesChart("attempts-month", "Attempts in the last 30 days", month),
		latencyChart("latency-month", "Latency in the last 30 days", month),
	}
	return err
}

// findMail checks whether mail of the org is waiting although there is no mail
// server.
func (p *overviewPage) findMail(r *request, tx store.Tx) error {
	if r.s.config.Mailed != nil {
		return nil
	}
	mails, err := tx.Mails("", maxSearched)
	for _, m := range mails {
		p.NoMail = p.NoMail || m.OrgID == r.org.ID
	}
	return err
}

func (p *overviewPage) findFeatures(r *request, tx store.Tx) error {
	features, err := store.Features(tx, r.org.ID)
	p.NoAPI, p.NoWebhooks = !features.Has(store.FeatureAPI), !features.Has(store.FeatureWebhooks)
	return err
}

// ManyWaiting reports whether so many deliveries are waiting that the endpoint needs
// attention.
func (h health) ManyWaiting() bool { return h.Waiting.Total() >= manyWaiting }

// showOrgs lets the person choose an org.
func (r *request) showOrgs() error { return r.show(200, "orgs", nil, nil) }

// managedOrgs are the orgs that a user manages, in the order of their ids.
func managedOrgs(tx store.Tx, userID string) (orgs []store.Org, err error) {
	ids, err := tx.ManagedOrgs(userID)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		org, err := tx.Org(id)
		if err != nil {
			return nil, err
		}
		orgs = append(orgs, org)
	}
	return orgs, nil
}

// home leads to the person's only org, or to a choice of orgs.
func (r *request) home() error {
	if err := r.view(nil); err != nil {
		return err
	}
	if len(r.orgs) == 1 {
		return r.redirect(orgPath(r.orgs[0].ID))
	}
	return r.redirect(Path + "/orgs")
}
