package settings

import (
	"teamdata/docs"
	"teamdata/store"
)

// setupPage is the data of endpoint_setup.html: the steps at the receiver of a new endpoint,
// from its secret to the first test.
type setupPage struct {
	store.Endpoint
	endpointWarnings
	OrgID   string
	Added   bool // it was just added: the page shows the secret
	Samples []docs.Sample
	Types   []eventChoice
	Test    *deliveryPage // that was sent from here; nil: none was
}

// showSetup shows the secret right after the endpoint was added, and the audit log
// records that, as whenever it is shown.
func (r *request) showSetup() error {
	p := setupPage{Added: r.HTTP.URL.Query().Get("added") != "" && !r.isLive(), Samples: docs.Samples()}
	if p.Added {
		if err := r.auditSecretShown(); err != nil {
			return err
		}
	}
	return r.Show(200, "endpoint_setup", &p, func(tx store.Tx) (err error) {
		if err = r.findSetup(tx, &p); err != nil || r.isLive() {
			return err
		}
		if p.Types, err = eventChoices(tx, nil); err == nil {
			p.endpointWarnings, err = r.warningsOf(tx, p.Endpoint)
		}
		return err
	})
}

// findSetup finds the endpoint of the path, and the test that the query names.
func (r *request) findSetup(tx store.Tx, p *setupPage) (err error) {
	p.OrgID = r.Org.ID
	if p.Endpoint, err = r.endpoint(tx); err != nil {
		return err
	}
	id := r.HTTP.URL.Query().Get("test")
	if id == "" {
		return nil
	}
	d, e, err := store.FindDelivery(tx, r.Org.ID, id)
	if err == nil && e.Number == p.Number {
		p.Test = &deliveryPage{}
		p.Test.fill(r, d, &e)
	} else if store.IsNotFound(err) { // dropped by now, or made up
		err = nil
	}
	return err
}
