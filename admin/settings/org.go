package settings

import (
	"net/http"
	"strconv"
	"time"

	"teamdata/store"
)

// Bounds of what the overview counts.
const (
	countedMembers = 1000
	countedKeys    = 100
	manyWaiting    = 100 // deliveries that wait for an endpoint, and deserve a look
)

type overviewPage struct {
	Endpoints, Members, Keys string // how many there are, for people
	NoEndpoint, NoKey        bool
	Attention                []endpointRow // endpoints that need it
	Day, Month               timeSeries
	Quiet                    bool // nothing was sent in Month
	Charts                   []chart
	NoMail                   bool // mail waits, and there is no mail server
	NoAPI, NoWebhooks        bool // the plan doesn't include them
	URL                      string
}

func (r *request) showOverview() error {
	p := overviewPage{URL: r.s.config.PublicURL}
	err := r.view(func(tx store.Tx) error {
		for _, load := range []func(*request, store.Tx) error{
			p.count, p.findEndpoints, p.findAttempts, p.findMail, p.findFeatures,
		} {
			if err := load(r, tx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	p.Charts = []chart{
		outcomesChart("attempts-day", "Attempts in the last 24 hours", p.Day),
		latencyChart("latency-day", "Latency in the last 24 hours", p.Day),
		outcomesChart("attempts-month", "Attempts in the last 30 days", p.Month),
		latencyChart("latency-month", "Latency in the last 30 days", p.Month),
	}
	return r.render(200, "overview", p)
}

// count counts members and keys, as far as that is cheap.
func (p *overviewPage) count(r *request, tx store.Tx) error {
	members, err := tx.MemberPage(r.org.ID, store.Cursor{}, countedMembers, nil)
	if err != nil {
		return err
	}
	keys, err := tx.APIKeys(r.org.ID, "", countedKeys+1)
	p.Members, p.Keys = strconv.Itoa(members.Count), strconv.Itoa(len(keys))
	if members.More {
		p.Members = "over 1,000"
	}
	if len(keys) > countedKeys {
		p.Keys = "over 100"
	}
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
		if row.Disabled() || row.Health.Failed > 0 || row.Health.Waiting >= manyWaiting {
			p.Attention = append(p.Attention, row)
		}
	}
	return err
}

func (p *overviewPage) findAttempts(r *request, tx store.Tx) error {
	p.Day, p.Month = newTimeSeries(r.now, time.Hour, 24), newTimeSeries(r.now, 24*time.Hour, 30)
	p.Quiet = true
	return tx.EachDeliveryCounts(r.org.ID, p.Month.Points[0].From, func(_ uint64, hour time.Time, c store.DeliveryCounts) {
		p.Day.add(hour, c)
		p.Month.add(hour, c)
		p.Quiet = false
	})
}

// findMail looks whether mail of the org waits for a mail server that isn't there.
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

// ManyWaiting tells whether so many deliveries wait that somebody should look.
func (h health) ManyWaiting() bool { return h.Waiting >= manyWaiting }

// showOrgs lets the person choose an org.
func (r *request) showOrgs() error {
	if err := r.view(nil); err != nil {
		return err
	}
	return r.render(http.StatusOK, "orgs", r.orgs)
}

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

// home leads to where a person starts.
func (r *request) home() error {
	if err := r.view(nil); err != nil {
		return err
	}
	if len(r.orgs) == 1 {
		return r.redirect(orgPath(r.orgs[0].ID))
	}
	return r.redirect(Path + "/orgs")
}
