package settings

import (
	"cmp"
	"net/http"
	"strings"
	"time"
	"unicode"

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

	Key   madeKey // to pull with; zero: none was made now
	Keys  []keyRow
	Taken time.Time // when something was acknowledged last; zero: nothing was
	OwnCA bool      // the samples name the file of the server's own CA
}

// madeKey is an API key that was just made, with its secret.
type madeKey struct {
	store.APIKey
	Whole string // <id>.<secret>
	test  string // id of the test that was sent for it
}

// showSetup shows the secret right after the endpoint was added, and the audit log
// records that, as whenever it is shown.
func (r *request) showSetup() error {
	p := setupPage{Added: r.HTTP.URL.Query().Get("added") != "" && !r.isLive()}
	if p.Added {
		if err := r.auditSecretShown(); err != nil {
			return err
		}
	}
	return r.renderSetup(200, &p, r.Param("endpoint"), r.HTTP.URL.Query().Get("test"))
}

func (r *request) renderSetup(status int, p *setupPage, id, test string) error {
	return r.Show(status, "endpoint_setup", p, func(tx store.Tx) (err error) {
		if err = r.findSetup(tx, p, id, test); err != nil || r.isLive() {
			return err
		}
		if p.Samples = docs.Samples(); p.Pull() {
			p.Samples, p.OwnCA = r.pullSamples(p), r.ownCA()
			if p.Keys, err = r.keysThatPull(tx, id); err != nil {
				return err
			}
		}
		if p.Types, err = eventChoices(tx, nil); err == nil {
			p.endpointWarnings, err = r.warningsOf(tx, p.Endpoint)
		}
		return err
	})
}

// findSetup finds an endpoint, and a test that was sent to it; empty: none was.
func (r *request) findSetup(tx store.Tx, p *setupPage, id, test string) (err error) {
	p.OrgID = r.Org.ID
	if p.Endpoint, err = store.FindEndpoint(tx, r.Org.ID, id); err != nil {
		return err
	}
	if p.Taken, err = tx.LastAcknowledged(p.Number); err != nil || test == "" {
		return err
	}
	d, e, err := store.FindDelivery(tx, r.Org.ID, test)
	if err == nil && e.Number == p.Number {
		p.Test = &deliveryPage{}
		err = p.Test.fill(r, tx, d, &e)
	} else if store.IsNotFound(err) { // dropped by now, or made up
		err = nil
	}
	return err
}

// Live is the query of what changes while the page is open; empty: nothing does.
func (p *setupPage) Live() string {
	switch {
	case p.Test != nil && !p.Test.Done():
		return "?test=" + p.Test.ID
	case p.Test == nil && p.Pull() && p.Taken.IsZero():
		return "?"
	}
	return ""
}

// pullSamples are the samples for the page's endpoint, at this server, with the key if that
// was just made: what is pasted into a shell then runs.
func (r *request) pullSamples(p *setupPage) (samples []docs.Sample) {
	ca := r.s.config.CurlOptions
	here := strings.NewReplacer(docs.PullURL, r.pullURL(p.ID), "curl ", "curl "+ca, "listen ", "listen "+strings.Replace(ca, "--cacert", "--ca-file", 1))
	for _, s := range docs.PullSamples() {
		s.Code = here.Replace(s.Code)
		if s.ID == "listen" && p.Key.Whole != "" {
			s.Code = "WEBHOOK_SECRET=" + p.Secret + "\n" + s.Code
		}
		if s.ID == "sh" || s.ID == "listen" {
			s.Code = "TEAMDATA_KEY=" + cmp.Or(p.Key.Whole, "key_…") + "\n" + s.Code
		}
		samples = append(samples, s)
	}
	return samples
}

// pullURL is where consumers pull from an endpoint.
func (r *request) pullURL(id string) string { return r.s.config.PublicURL + "/pull/" + id }

// pullKeyDays is for how long a key works that is made with its endpoint.
const pullKeyDays = 365

// makePullKey makes a key that may pull from an endpoint alone, and sends a test that waits for
// it. The page shows the endpoint's secret too.
func (r *request) makePullKey(tx store.Tx, e store.Endpoint) (made madeKey, err error) {
	made.APIKey = store.APIKey{
		OrgID: r.Org.ID, Name: keyNameOf(&e), Scopes: store.ScopeReceive, Endpoints: []string{e.ID},
		CreatedBy: r.actor(), ExpiresAt: tx.Now().AddDate(0, 0, pullKeyDays),
	}
	var secret string
	if made.APIKey, secret, err = store.CreateKey(tx, r.actor(), made.APIKey); err != nil {
		return made, err
	}
	if _, err = store.ShowSecret(tx, r.actor(), r.Org.ID, e.ID); err != nil || e.Disabled() {
		made.Whole = made.ID + "." + secret
		return made, err
	}
	test, err := store.SendTest(tx, r.Org.ID, e.ID)
	made.Whole, made.test = made.ID+"."+secret, test.ID
	return made, err
}

// keyNameOf is a name for a key of an endpoint: its description, if people can read that.
func keyNameOf(e *store.Endpoint) string {
	readable := strings.ContainsFunc(e.Description, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsNumber(c) })
	if name := []rune(e.Description); readable {
		return string(name[:min(len(name), 100)])
	}
	return e.ID
}

// createPullKey makes a key for the endpoint of the path, and shows it on the page. A form
// that is sent again makes none.
func (r *request) createPullKey() error {
	var made madeKey
	_, again, err := r.ChangeOnce(func(tx store.Tx) (string, error) {
		e, err := r.endpoint(tx)
		if err == nil && !e.Pull() {
			err = store.Errorf(store.CodeConflict, "Events are sent to this endpoint, and can't be pulled.")
		}
		if err == nil {
			made, err = r.makePullKey(tx, e)
		}
		return made.ID, err
	})
	if err != nil {
		return err
	}
	if again {
		return r.Redirect(r.endpointPath("setup"))
	}
	return r.showMadeKey(r.Param("endpoint"), made)
}

// showMadeKey is the page that shows the secret of a key, and no other does.
func (r *request) showMadeKey(id string, made madeKey) error {
	return r.renderSetup(http.StatusCreated, &setupPage{Key: made, Added: true}, id, made.test)
}
