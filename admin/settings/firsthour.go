package settings

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"teamdata/store"
)

// The steps of the first hour.
const (
	stepEndpoint  = "endpoint"
	stepTest      = "test"
	stepSignature = "signature"
	stepKey       = "key"
	stepCall      = "call"
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
// the first call made.
type firstHour struct {
	OrgID    string
	Steps    []step
	Endpoint store.Endpoint // that the steps are about; zero: there is none
	Curl     string         // the first call
	OwnCA    bool           // the command names the file of the server's own CA
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

// Done reports whether all steps are.
func (f *firstHour) Done() bool { return f.Count() == len(f.Steps) }

// hiddenCookie is set, for the pages of an org, where a person has hidden its checklist.
const (
	hiddenCookie = "first-hour"
	hiddenAge    = 365 * 24 * time.Hour
)

// hideFirstHour hides the checklist from this browser.
func (r *request) hideFirstHour() error {
	if err := r.View(nil); err != nil {
		return err
	}
	http.SetCookie(r.W, &http.Cookie{
		Name: hiddenCookie, Value: "hidden", Path: r.path(), MaxAge: int(hiddenAge.Seconds()),
		HttpOnly: true, Secure: r.s.secure, SameSite: http.SameSiteLaxMode,
	})
	return r.Redirect(r.path())
}

// watchFirstHour answers with the steps, as they are now.
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
	for _, find := range []func(*request, store.Tx, []store.Endpoint) error{f.findEndpoint, f.findTest, f.findSignature, f.findKeys} {
		if err := find(r, tx, endpoints); err != nil {
			return nil, err
		}
	}
	for i := range f.Steps {
		f.Steps[i].Number = i + 1
	}
	if next := slices.IndexFunc(f.Steps, func(s step) bool { return !s.Done }); next >= 0 {
		f.Steps[next].Now = true
	}
	return f, nil
}

// findEndpoint finds the endpoint that was added last.
func (f *firstHour) findEndpoint(_ *request, _ store.Tx, endpoints []store.Endpoint) error {
	s := step{Name: stepEndpoint, Title: "Add an endpoint", Hint: "1 minute", Done: len(endpoints) > 0}
	if s.Done {
		f.Endpoint = slices.MaxFunc(endpoints, func(a, b store.Endpoint) int { return cmp.Compare(a.Number, b.Number) })
		s.Hint = shortURL(f.Endpoint.URL)
	}
	f.Steps = append(f.Steps, s)
	return nil
}

// findTest finds out whether an event was acknowledged, a test or any other.
func (f *firstHour) findTest(_ *request, tx store.Tx, endpoints []store.Endpoint) error {
	s := step{Name: stepTest, Title: "Receive a test event"}
	var numbers []uint64
	for _, e := range endpoints {
		at, err := tx.LastAcknowledged(e.Number)
		if err != nil {
			return err
		}
		s.At, numbers = latest(s.At, at), append(numbers, e.Number)
	}
	if s.Done = !s.At.IsZero(); s.Done {
		arrived, err := tx.LatestDeliveries(numbers, []store.DeliveryList{store.ListAcknowledged}, store.Cursor{}, 1)
		if err != nil {
			return err
		}
		for _, d := range arrived {
			if a := lastAttempt(&d); a != nil {
				s.Hint, s.At = statusText(a.Status)+" after "+formatDuration(a.Took()), d.ShownAt()
			}
		}
	} else if len(endpoints) > 0 {
		s.Hint = "Waiting for your test"
	}
	f.Steps = append(f.Steps, s)
	return nil
}

// findSignature finds out whether a request of an endpoint was pasted and verified.
func (f *firstHour) findSignature(_ *request, _ store.Tx, endpoints []store.Endpoint) error {
	s := step{Name: stepSignature, Title: "Check a signature"}
	for _, e := range endpoints {
		s.At = latest(s.At, e.VerifiedAt)
	}
	if s.Done = !s.At.IsZero(); !s.Done && f.Steps[1].Done {
		s.Hint = "Waiting for your check"
	}
	f.Steps = append(f.Steps, s)
	return nil
}

// findKeys finds out whether there is a key, and whether the API was called with one.
func (f *firstHour) findKeys(r *request, tx store.Tx, _ []store.Endpoint) error {
	keys, err := tx.APIKeys(r.Org.ID, "", maxKeysAsked)
	created, called := step{Name: stepKey, Title: "Create an API key", Hint: "1 minute", Done: len(keys) > 0}, step{Name: stepCall, Title: "Make your first call"}
	for _, k := range keys {
		use, errUse := tx.KeyUse(k.ID)
		if err == nil {
			err = errUse
		}
		created.Hint, called.At = cmp.Or(k.Name, k.ID), latest(called.At, use.LastUsedAt)
	}
	if called.Done = !called.At.IsZero(); !called.Done {
		called.Hint = "with the key in TEAMDATA_KEY"
	}
	f.Steps = append(f.Steps, created, called)
	return err
}

// latest is the later of two times.
func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// ownCA reports whether curl has to be told of the server's own CA.
func (r *request) ownCA() bool { return strings.Contains(r.s.config.CurlOptions, "--cacert") }
