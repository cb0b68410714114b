package settings

import (
	"cmp"
	"slices"
	"time"

	"teamdata/store"
)

// Bounds of what the overview counts.
const (
	manyWaiting = 100 // waiting deliveries that make an endpoint need attention
)

type overviewPage struct {
	FirstHour         *firstHour // nil: all of it is done, it is over, or hidden
	New               bool       // the org has only begun: the checklist stands for everything else
	Endpoints         int
	Attention         []endpointRow // endpoints that need attention, those that fail first
	Span              span
	Sum               point // of the span
	Waiting           store.Waiting
	Charts            []chart
	Failures          []deliveryRow
	Changes           []auditRow // latest first
	ProxyDown         bool       // webhooks wait for the server's own proxy
	NoMail            bool       // mail is waiting, and there is no mail server
	NoAPI, NoWebhooks bool       // the plan does not include them

	rows []endpointRow
}

func (r *request) showOverview() error {
	p := overviewPage{Span: r.spanOf(), ProxyDown: r.s.proxyDown()}
	return r.Show(200, "overview", &p, func(tx store.Tx) error {
		for _, load := range []func(*request, store.Tx) error{
			p.findEndpoints, p.findAttempts, p.findFailures, p.findChanges, p.findMail, p.findFeatures, p.findFirstHour,
		} {
			if err := load(r, tx); err != nil {
				return err
			}
		}
		return nil
	})
}

// fewAttempts are so few that numbers and charts of them mean nothing yet.
const fewAttempts = 10

// findFirstHour finds what a person who manages the org may still do of the first hour.
func (p *overviewPage) findFirstHour(r *request, tx store.Tx) error {
	if !r.Member.Manages() || r.CookieNamed(hiddenCookie) != "" {
		return nil
	}
	var endpoints []store.Endpoint
	for _, row := range p.rows {
		endpoints = append(endpoints, row.Endpoint)
	}
	f, err := r.firstHour(tx, endpoints)
	if err == nil && !f.Done() && !f.over(r) {
		p.FirstHour, p.New = f, p.Sum.Total() < fewAttempts && len(p.Attention) == 0 && len(p.Failures) == 0
	}
	return err
}

func (p *overviewPage) findEndpoints(r *request, tx store.Tx) error {
	endpoints, err := tx.Endpoints(r.Org.ID)
	if err != nil {
		return err
	}
	p.Endpoints = len(endpoints)
	p.rows, err = r.rows(tx, endpoints)
	for _, row := range p.rows {
		w := row.Health.Waiting
		p.Waiting.Due, p.Waiting.Later, p.Waiting.Held, p.Waiting.Pull = p.Waiting.Due+w.Due, p.Waiting.Later+w.Later, p.Waiting.Held+w.Held, p.Waiting.Pull+w.Pull
		p.Waiting.Capped = p.Waiting.Capped || w.Capped
		if row.Reason() != "" {
			p.Attention = append(p.Attention, row)
		}
	}
	slices.SortStableFunc(p.Attention, func(a, b endpointRow) int { return cmp.Compare(a.rank(), b.rank()) })
	return err
}

// numbers are the numbers of the org's endpoints.
func (p *overviewPage) numbers() (all []uint64) {
	for _, row := range p.rows {
		all = append(all, row.Number)
	}
	return all
}

func (p *overviewPage) findAttempts(r *request, tx store.Tx) error {
	series, err := r.series(tx, p.Span, p.numbers())
	if err != nil {
		return err
	}
	p.Sum, p.Charts = series.sum(), charts(p.Span, series)
	return nil
}

// maxFailures and maxChanges are how many of the latest ones the overview shows.
const (
	maxFailures = 5
	maxChanges  = 5
)

func (p *overviewPage) findFailures(r *request, tx store.Tx) error {
	failed, err := tx.LatestDeliveries(p.numbers(), []store.DeliveryList{store.ListFailed}, store.Cursor{}, maxFailures)
	for _, d := range failed {
		for _, row := range p.rows {
			if row.Number == d.EndpointNumber {
				failure, err := r.newRow(tx, d, &row.Endpoint)
				if err != nil {
					return err
				}
				p.Failures = append(p.Failures, failure)
			}
		}
	}
	return err
}

func (p *overviewPage) findChanges(r *request, tx store.Tx) error {
	entries, err := r.readEntriesBack(tx, store.AuditFilter{})(store.Cursor{}, maxChanges)
	for i := 0; i < len(entries) && err == nil; i++ {
		var row auditRow
		row, err = r.auditRow(tx, entries[i])
		p.Changes = append(p.Changes, row)
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
		p.NoMail = p.NoMail || m.OrgID == r.Org.ID
	}
	return err
}

func (p *overviewPage) findFeatures(r *request, tx store.Tx) error {
	features, err := store.Features(tx, r.Org.ID)
	p.NoAPI, p.NoWebhooks = !features.Has(store.FeatureAPI), !features.Has(store.FeatureWebhooks)
	return err
}

// showOrgs lets the person choose an org.
func (r *request) showOrgs() error { return r.Show(200, "orgs", nil, nil) }

// The cookie with the id of the org whose pages were seen last, for people with several.
const (
	lastOrgCookie = "org"
	lastOrgAge    = 365 * 24 * time.Hour
)

// rememberOrg keeps the org of a page, if the person has several.
func (r *request) rememberOrg() {
	if len(r.orgs) > 1 && r.Org.ID != "" && r.CookieNamed(lastOrgCookie) != r.Org.ID {
		r.PutCookie(lastOrgCookie, r.Org.ID, Path, lastOrgAge)
	}
}

// home leads to the person's only org or the one seen last, or to a choice of orgs. It
// passes on what was done.
func (r *request) home() error {
	to := Path + "/orgs"
	for _, o := range r.orgs {
		if len(r.orgs) == 1 || o.ID == r.CookieNamed(lastOrgCookie) {
			to = orgPath(o.ID)
		}
	}
	if done := r.HTTP.URL.Query().Get("done"); notices[done] != "" {
		return r.Done(done, to)
	}
	return r.Redirect(to)
}
