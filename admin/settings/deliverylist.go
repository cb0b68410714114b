package settings

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"teamdata/internal/canonical"
	"teamdata/store"
)

// maxCounted is how many deliveries a count beside a state says at most.
const maxCounted = 99

// deliveriesPage is the data of deliveries.html, of an endpoint or of all of the org.
type deliveriesPage struct {
	Of     *store.Endpoint // nil: all of the org
	Head   endpointHead    // of that endpoint
	Asked  url.Values      // the filter, as in the form
	Err    *store.Error    // what is wrong with it; nil: nothing
	Types  []eventChoice
	States []stateChoice
	Failed stateChoice // of what is shown, what can be replayed
	Path   string      // of the list without a filter
	listPage[deliveryRow]

	walk   store.DeliveryWalk
	pulled bool // one of the endpoints is
}

// stateChoice is a state to switch to.
type stateChoice struct {
	State, Name string
	Count       string // empty: not counted, or none
	Path        string
	Chosen      bool
}

// deliveryRow is a delivery as lists show it.
type deliveryRow struct {
	store.Delivery
	State    store.DeliveryState // as people see it
	Endpoint *store.Endpoint
	Last     *store.Attempt // nil: there was none
	Of       int            // how many attempts there are at most
	Due      bool           // the next attempt is due
	Leased   bool           // to a consumer, whose lease has not ended
	By       person         // the API key that pulled it last; zero: nobody did, or its endpoint is not pulled
}

// newRow makes a row of a delivery to an endpoint.
func (r *request) newRow(tx store.Tx, d store.Delivery, e *store.Endpoint) (row deliveryRow, err error) {
	row = deliveryRow{Delivery: d, State: d.StateAt(e), Endpoint: e, Last: d.LastAttempt(), Of: len(r.s.config.RetrySchedule) + 1, Due: !d.DueAt.After(r.Now)}
	if e.Pull() {
		err = r.fillPulled(tx, &row)
	}
	return row, err
}

// Replayable reports whether the row offers to replay the delivery.
func (d deliveryRow) Replayable() bool {
	if d.Endpoint.Pull() {
		return d.StateName() == "failed" || d.StateName() == "back" && !d.Due
	}
	return d.State == store.StateFailed || d.State == store.StateRetrying
}

// Summary is what became of the last attempt, beside its status.
func (d deliveryRow) Summary() string { return attemptSummary(d.Last) }

// attemptSummary is how long an acknowledged attempt took, or else why it failed, as far as that
// is known.
func attemptSummary(a *store.Attempt) string {
	switch {
	case a.Acknowledged() && a.KeyID != "":
		return "after " + formatDuration(a.Took())
	case a.Acknowledged():
		return formatDuration(a.Took())
	case a.Status == 0:
		return a.Reason
	}
	return cmp.Or(a.AnswerLine(), http.StatusText(a.Status), a.Reason)
}

// deliveryStates are the states to switch to in a list.
var deliveryStates = []stateChoice{
	{Name: "All"}, {State: "waiting", Name: "Waiting"}, {State: "leased", Name: "Leased"}, {State: "failed", Name: "Failed"}, {State: "acknowledged", Name: "Acknowledged"},
}

// listDeliveries shows the deliveries of the endpoint of the path, or of the org.
func (r *request) listDeliveries() error {
	p := &deliveriesPage{Asked: askedDeliveries(r.HTTP.URL.Query()), Path: r.path("deliveries")}
	if id := r.Param("endpoint"); id != "" {
		p.Path = r.endpointPath("deliveries")
		p.Asked.Set("endpoint", id)
	}
	return r.showFiltered("deliveries", p, &p.Err, func(tx store.Tx) error { return r.findDeliveries(tx, p) })
}

// askedDeliveries are the fields of a filter in a query.
func askedDeliveries(query url.Values) url.Values {
	asked := url.Values{}
	for _, name := range store.DeliveryFilterFields {
		asked.Set(name, query.Get(name))
	}
	span := timeRangeOf(query)
	asked.Set("time", span.Time)
	asked.Set("since", span.SinceText)
	asked.Set("until", span.UntilText)
	return asked
}

// deliveryFilter parses the requested filter, in the reader's zone. A bound in the form of
// RFC 3339 is exact.
func (r *request) deliveryFilter(asked url.Values) (store.DeliveryFilter, error) {
	f, err := store.ParseDeliveryFilter(asked.Get, func(field, text string) (first, end time.Time, err error) {
		if t, ok := canonical.DateTime(text); ok {
			return checkTime(field, t.UTC(), t.UTC())
		}
		return parseTime(field, text, r.zone(), r.Now)
	})
	if period := periods[asked.Get("time")]; period > 0 {
		f.Since = r.Now.Add(-period)
	}
	return f, err
}

func (r *request) findDeliveries(tx store.Tx, p *deliveriesPage) (err error) {
	if r.Param("endpoint") != "" {
		if p.Head, err = r.endpointHead(tx, "deliveries"); err != nil {
			return err
		}
		p.Of, p.pulled = &p.Head.Endpoint, p.Head.Pull()
	} else {
		endpoints, err := tx.Endpoints(r.Org.ID)
		if err != nil {
			return err
		}
		p.pulled = slices.ContainsFunc(endpoints, func(e store.Endpoint) bool { return e.Pull() })
	}
	if p.Types, err = typeChoices(tx, p.Asked.Get("type")); err != nil {
		return err
	}
	filter, err := r.deliveryFilter(p.Asked)
	if err != nil {
		p.addStates(nil)
		return err
	}
	if p.walk, err = store.WalkDeliveries(tx, r.Org.ID, filter); err != nil {
		return err
	}
	p.listPage, err = search(r, deliveryRecords(tx, &p.walk, p.Path, p.pairs(), func(d store.Delivery) (row deliveryRow, matches bool, err error) {
		if matches = p.walk.Matches(d); matches {
			row, err = r.newRow(tx, d, p.walk.Endpoint(&d))
		}
		return row, matches, err
	}))
	if err != nil {
		return err
	}
	return p.count(tx)
}

// typeChoices are the event types to choose from, including the requested one.
func typeChoices(tx store.Tx, asked string) ([]eventChoice, error) {
	types, err := eventChoices(tx, []string{asked})
	if asked != "" && !slices.ContainsFunc(types, func(c eventChoice) bool { return c.Chosen }) {
		types = append(types, eventChoice{Name: asked, Chosen: true}) // a group, or one that was removed since
	}
	return types, err
}

// deliveryRecords are the deliveries of a walk.
func deliveryRecords[Row any](tx store.Tx, w *store.DeliveryWalk, path string, filter []string, row func(store.Delivery) (Row, bool, error)) records[store.Delivery, Row] {
	return records[store.Delivery, Row]{
		path: path, filter: filter, param: "after", row: row,
		read: func(from store.Cursor, limit int) ([]store.Delivery, error) { return w.Read(tx, from, limit) },
		at:   func(d store.Delivery) store.Cursor { return d.Latest() },
	}
}

// count counts the deliveries that are not acknowledged and match the rest of the filter.
func (p *deliveriesPage) count(tx store.Tx) error {
	counts := map[string]string{}
	for _, state := range []string{"waiting", "leased", "failed"} {
		if state == "leased" && !p.offersLeased() {
			continue
		}
		w := p.walk
		w.Filter.State = state
		n, more, err := countDeliveries(tx, &w)
		if err != nil {
			return err
		}
		if n > 0 || more {
			counts[state] = formatCount(n, more)
		}
	}
	p.addStates(counts)
	replay := p.walk.Filter
	replay.State = cmp.Or(replay.State, "failed")
	p.Failed = stateChoice{State: replay.State, Count: counts[replay.State], Path: withQuery("", replay.Values()...)}
	return nil
}

func (p *deliveriesPage) addStates(counts map[string]string) {
	for _, s := range deliveryStates {
		if s.State == "leased" && !p.offersLeased() {
			continue
		}
		s.Count, s.Path, s.Chosen = counts[s.State], p.with("state", s.State), p.Asked.Get("state") == s.State
		p.States = append(p.States, s)
	}
}

// countDeliveries counts deliveries up to maxCounted. If the first ones that it reads don't
// suffice, it reads three times as many more, and no further.
func countDeliveries(tx store.Tx, w *store.DeliveryWalk) (n int, more bool, err error) {
	from := store.Cursor{}
	for _, limit := range []int{maxCounted + 1, 3 * (maxCounted + 1)} {
		found, err := w.Read(tx, from, limit)
		if err != nil {
			return 0, false, err
		}
		for _, d := range found {
			if w.Matches(d) {
				n++
			}
			from = d.Latest()
		}
		if n > maxCounted {
			return maxCounted, true, nil
		}
		if len(found) < limit {
			return n, false, nil
		}
	}
	return n, true, nil
}

// pairs is the requested filter as withQuery takes it, with some fields changed: names and
// values in turn.
func (p *deliveriesPage) pairs(changed ...string) (pairs []string) {
	for name := range p.Asked {
		if name == "endpoint" && p.Of != nil || name == "time" && p.Asked.Get(name) == "between" {
			continue
		}
		pairs = append(pairs, name, p.Asked.Get(name))
	}
	return append(pairs, changed...)
}

func (p *deliveriesPage) with(changed ...string) string {
	return withQuery(p.Path, p.pairs(changed...)...)
}

// offersLeased reports whether one can switch to what is leased: the list of all endpoints has
// no room for that.
func (p *deliveriesPage) offersLeased() bool {
	return p.Of != nil && p.pulled || p.Asked.Get("state") == "leased"
}

// Pulled reports whether some of the deliveries may be pulled.
func (p *deliveriesPage) Pulled() bool { return p.pulled }

// Filtered reports whether anything is asked for but the endpoint.
func (p *deliveriesPage) Filtered() bool { return p.with() != p.Path }

// Nothing says in words that the filter selects no deliveries.
func (p *deliveriesPage) Nothing() string {
	f := p.walk.Filter
	words := []string{"None"}
	add := func(format, value string) {
		if value != "" {
			words = append(words, fmt.Sprintf(format, value))
		}
	}
	add("of type %s", f.Type)
	add("with the id %s", f.Query)
	if f.Status == "none" {
		words = append(words, "without an answer")
	} else {
		add("answered %s", f.Status)
	}
	add("%s", cmp.Or(stateVerbs[f.State], "was found"))
	add("%s", periodWords[p.Field("time")])
	return strings.Join(words, " ") + "."
}

// stateVerbs say that a delivery is in a state of a filter.
var stateVerbs = map[string]string{
	"waiting": "is waiting", "failed": "failed", "acknowledged": "was acknowledged", "unsuccessful": "was unsuccessful",
	"pending": "is pending", "retrying": "is being retried", "held": "is held", "leased": "is leased",
}

// periodWords say in which period of a filter something happened.
var periodWords = map[string]string{"1h": "in the last hour", "24h": "in the last 24 hours", "7d": "in the last 7 days", "between": "in that time"}

// Field is a field of the requested filter.
func (p *deliveriesPage) Field(name string) string { return p.Asked.Get(name) }

// Statuses are the statuses to choose from, including the requested one.
func (p *deliveriesPage) Statuses() [][2]string {
	statuses := [][2]string{{"2xx", "2xx"}, {"3xx", "3xx"}, {"4xx", "4xx"}, {"5xx", "5xx"}, {"none", "No answer"}}
	asked := p.Asked.Get("status")
	if _, err := strconv.Atoi(asked); err == nil {
		statuses = append(statuses, [2]string{asked, asked})
	}
	return statuses
}
