package settings

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"teamdata/store"
)

// step is one of the first hour's. What is done is derived from the data.
type step struct {
	Name   string
	Number int
	Title  string
	Hint   string
	Now    bool      // the next that is to be done
	Done   bool      // with what is known of it in Hint and At
	At     time.Time // zero: unknown
}

// firstHour is the checklist of a new org: from nothing to the first event handled and
// the first call made; or, where it is pulled, to the first event acknowledged.
type firstHour struct {
	OrgID    string
	Steps    []step
	Endpoint store.Endpoint // that the steps are about; zero: there is none
	Curl     string         // the first call
	OwnCA    bool           // the command names the file of the server's own CA

	Acknowledged int // deliveries; not more than enoughAcknowledged
}

// When the list goes away by itself: as soon as so many deliveries were acknowledged, or so
// long after the person could first see it.
const (
	enoughAcknowledged = 20
	firstHourAge       = 7 * 24 * time.Hour
)

// over reports whether the list goes away although steps are left.
func (f *firstHour) over(r *request) bool {
	return f.Acknowledged == enoughAcknowledged || r.Now.Sub(later(r.Org.CreatedAt, r.Account.CreatedAt)) >= firstHourAge
}

// Count is how many steps are done.
func (f *firstHour) Count() (n int) {
	for _, s := range f.Steps {
		if s.Done {
			n++
		}
	}
	return n
}

// Many is how many steps there are, in words.
func (f *firstHour) Many() string { return map[int]string{4: "four", 5: "five"}[len(f.Steps)] }

// Done reports whether all steps are.
func (f *firstHour) Done() bool { return f.Count() == len(f.Steps) }

// hiddenCookie is set, for the pages of an org, where a person has hidden its checklist.
const (
	hiddenCookie = "first-hour"
	hiddenAge    = 365 * 24 * time.Hour
)

// hideFirstHour hides the checklist from this browser.
func (r *request) hideFirstHour() error {
	r.PutCookie(hiddenCookie, "hidden", r.path(), hiddenAge)
	return r.Redirect(r.path())
}

// watchFirstHour answers with the current state of the steps.
func (r *request) watchFirstHour() error {
	var f *firstHour
	err := r.View(func(tx store.Tx) error {
		endpoints, err := tx.Endpoints(r.Org.ID)
		if err == nil {
			f, err = r.firstHour(tx, endpoints)
		}
		return err
	})
	if err != nil {
		return err
	}
	return r.send(200, "overview", "steps", f)
}

// maxKeysAsked is how many keys are asked for their use.
const maxKeysAsked = 100

// firstHour finds out how far the org is.
func (r *request) firstHour(tx store.Tx, endpoints []store.Endpoint) (*firstHour, error) {
	f := &firstHour{OrgID: r.Org.ID, Curl: r.curlAPI("", "/members"), OwnCA: r.ownCA()}
	added := step{Name: "endpoint", Title: "Add an endpoint", Hint: "1 minute", Done: len(endpoints) > 0}
	checked := step{Name: "signature", Title: "Check a signature"}
	for _, e := range endpoints {
		checked.At = later(checked.At, e.VerifiedAt)
		if e.Number >= f.Endpoint.Number { // the one that was added last
			f.Endpoint, added.Hint = e, endpointName(e)
		}
	}
	received, err := r.testStep(tx, f, endpoints)
	if err != nil {
		return nil, err
	}
	if f.Endpoint.Pull() {
		err := r.pullSteps(tx, f, added, received)
		return f, err
	}
	if checked.Done = !checked.At.IsZero(); !checked.Done && received.Done {
		checked.Hint = "Waiting for your check"
	}
	created, called, err := r.keySteps(tx)
	f.arrange(added, received, checked, created, called)
	return f, err
}

// arrange numbers the steps, and finds the next.
func (f *firstHour) arrange(steps ...step) {
	f.Steps = steps
	for i := range f.Steps {
		f.Steps[i].Number = i + 1
	}
	if next := slices.IndexFunc(f.Steps, func(s step) bool { return !s.Done }); next >= 0 {
		f.Steps[next].Now = true
	}
}

// pullSteps are the steps where the endpoint that was added last is pulled.
func (r *request) pullSteps(tx store.Tx, f *firstHour, added, acknowledged step) error {
	keys, err := r.keysThatPull(tx, f.Endpoint.ID)
	if err != nil {
		return err
	}
	created := step{Name: "pull-key", Title: "Create its API key", Hint: "1 minute", Done: len(keys) > 0}
	if created.Done {
		created.Hint = cmp.Or(keys[0].Name, keys[0].ID)
	}
	p, err := tx.LastPulled(f.Endpoint.Number)
	pulled := step{Name: "pull", Title: "Pull an event", Hint: "Waiting for your pull", Done: !p.At.IsZero(), At: p.At}
	if pulled.Done && err == nil {
		var by person
		by, err = r.key(tx, p.KeyID)
		pulled.Hint = by.Name
	}
	if acknowledged.Name, acknowledged.Title = "pull", "Acknowledge it"; !acknowledged.Done {
		acknowledged.Hint = "Waiting for your consumer"
	}
	f.arrange(added, created, pulled, acknowledged)
	return err
}

// testStep finds out whether an event was acknowledged, a test or any other, and how many
// were.
func (r *request) testStep(tx store.Tx, f *firstHour, endpoints []store.Endpoint) (step, error) {
	s := step{Name: "test", Title: "Receive a test event"}
	var numbers []uint64
	for _, e := range endpoints {
		at, err := tx.LastAcknowledged(e.Number)
		if err != nil {
			return s, err
		}
		s.At, numbers, s.Hint = later(s.At, at), append(numbers, e.Number), "Waiting for your test"
	}
	if s.Done = !s.At.IsZero(); !s.Done {
		return s, nil
	}
	s.Hint = ""
	arrived, err := tx.LatestDeliveries(numbers, []store.DeliveryList{store.ListAcknowledged}, store.Cursor{}, enoughAcknowledged)
	if f.Acknowledged = len(arrived); f.Acknowledged > 0 {
		if a := arrived[0].LastAttempt(); a != nil && a.KeyID != "" {
			s.Hint, s.At = "after "+formatDuration(a.Took()), arrived[0].ShownAt()
		} else if a != nil {
			s.Hint, s.At = statusText(a.Status)+" after "+formatDuration(a.Took()), arrived[0].ShownAt()
		}
	}
	return s, err
}

// keySteps finds out whether there is a key, and whether the API was called with one.
func (r *request) keySteps(tx store.Tx) (created, called step, err error) {
	keys, err := tx.APIKeys(r.Org.ID, "", maxKeysAsked)
	created = step{Name: "key", Title: "Create an API key", Hint: "1 minute", Done: len(keys) > 0}
	called = step{Name: "call", Title: "Make your first call", Hint: "with the key in TEAMDATA_KEY"}
	for _, k := range keys {
		use, errUse := tx.KeyUse(k.ID)
		err = errors.Join(err, errUse)
		created.Hint, called.At = cmp.Or(k.Name, k.ID), later(called.At, use.LastUsedAt)
	}
	if called.Done = !called.At.IsZero(); called.Done {
		called.Hint = ""
	}
	return created, called, err
}

// later is the later of two times.
func later(a, b time.Time) time.Time {
	return slices.MaxFunc([]time.Time{a, b}, time.Time.Compare)
}

// ownCA reports whether curl has to be told of the server's own CA.
func (r *request) ownCA() bool { return strings.Contains(r.s.config.CurlOptions, "--cacert") }
