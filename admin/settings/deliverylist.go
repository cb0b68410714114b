package settings

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
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
	Found  searchResult[deliveryRow]
	After  string // cursor behind which the page begins; empty: at the start
	Path   string // of the list without a filter
	Start  string // path of the first page
	Next   string // path of the next page; empty: this is the last

	walk store.DeliveryWalk
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
}

// newRow makes a row of a delivery to an endpoint.
func (r *request) newRow(d store.Delivery, e *store.Endpoint) deliveryRow {
	row := deliveryRow{Delivery: d, State: d.StateAt(e), Endpoint: e, Of: len(r.s.config.RetrySchedule) + 1}
	if len(d.History) > 0 {
		row.Last = &d.History[len(d.History)-1]
	}
	return row
}

// Replayable reports whether the row offers to replay the delivery.
func (d deliveryRow) Replayable() bool {
	return d.State == store.StateFailed || d.State == store.StateRetrying
}

// Says is what became of the last attempt, beside its status.
func (d deliveryRow) Says() string { return saidBy(d.Last) }

// saidBy is how long an attempt took that was acknowledged, or what is known of why it
// was not.
func saidBy(a *store.Attempt) string {
	switch {
	case a.Acknowledged():
		return formatDuration(a.Took())
	case a.Status == 0:
		return a.Reason
	}
	return cmp.Or(a.AnswerLine(), http.StatusText(a.Status), a.Reason)
}

// deliveryStates are the states to switch to in a list.
var deliveryStates = []stateChoice{
	{Name: "All"}, {State: "waiting", Name: "Waiting"}, {State: "failed", Name: "Failed"}, {State: "acknowledged", Name: "Acknowledged"},
}

// listDeliveries shows the deliveries of the endpoint of the path, or of the org.
func (r *request) listDeliveries() error {
	p := &deliveriesPage{Asked: askedDeliveries(r.HTTP.URL.Query()), After: r.HTTP.URL.Query().Get("after"), Path: r.path("deliveries")}
	if id := r.Param("endpoint"); id != "" {
		p.Path = r.endpointPath("deliveries")
		p.Asked.Set("endpoint", id)
	}
	status := 200
	err := r.View(func(tx store.Tx) error { return r.findDeliveries(tx, p) })
	if err != nil {
		err = r.OnForm(err, func(code int, e *store.Error) error {
			if e.Field == "" || e.Code != store.CodeBadRequest {
				return err
			}
			status, p.Err = code, e
			return nil
		})
	}
	if err != nil {
		return err
	}
	p.Start, p.Next = p.with(), p.Found.nextPath(p.Path, "after", p.pairs()...)
	return r.Render(status, "deliveries", p)
}

// askedDeliveries are the fields of a filter in a query. Bounds count only if no period
// is chosen.
func askedDeliveries(query url.Values) url.Values {
	asked := url.Values{}
	for _, name := range append([]string{"time"}, store.DeliveryFilterFields...) {
		if value := query.Get(name); value != "" {
			asked.Set(name, value)
		}
	}
	if periods[asked.Get("time")] > 0 {
		asked.Del("since")
		asked.Del("until")
	} else if asked.Del("time"); asked.Get("since") != "" || asked.Get("until") != "" {
		asked.Set("time", "between")
	}
	return asked
}

// deliveryFilter parses what was asked for, in the reader's zone.
func (r *request) deliveryFilter(asked url.Values) (store.DeliveryFilter, error) {
	since, until, err := r.deliveryBounds(asked)
	if err != nil {
		return store.DeliveryFilter{}, err
	}
	return store.ParseDeliveryFilter(func(name string) string {
		switch name {
		case "since":
			return since
		case "until":
			return until
		}
		return asked.Get(name)
	}, nil)
}

// deliveryBounds are the exact bounds of what was asked for.
func (r *request) deliveryBounds(asked url.Values) (since, until string, err error) {
	if span := periods[asked.Get("time")]; span > 0 {
		return store.FormatTime(r.Now.Add(-span)), "", nil
	}
	if since, err = r.deliveryBound("since", asked, parseSince); err == nil {
		until, err = r.deliveryBound("until", asked, parseUntil)
	}
	return since, until, err
}

// deliveryBound is a bound as RFC 3339 has it, which is exact. Other text is of the
// reader's zone, and until includes what it names.
func (r *request) deliveryBound(field string, asked url.Values, parse func(field, text string, zone *time.Location, now time.Time) (time.Time, error)) (string, error) {
	text := asked.Get(field)
	if _, ok := canonical.DateTime(text); ok {
		return text, nil
	}
	at, err := parse(field, text, r.zone(), r.clock())
	if err != nil || at.IsZero() {
		return "", err
	}
	return store.FormatTime(at), nil
}

func (r *request) findDeliveries(tx store.Tx, p *deliveriesPage) (err error) {
	if id := r.Param("endpoint"); id != "" {
		e, err := r.endpoint(tx)
		if err != nil {
			return err
		}
		if p.Head, err = r.endpointHead(tx, e, "", "deliveries"); err != nil {
			return err
		}
		p.Of = &p.Head.Endpoint
	}
	if err := p.findTypes(tx); err != nil {
		return err
	}
	filter, err := r.deliveryFilter(p.Asked)
	if err != nil {
		p.addStates(nil)
		return err
	}
	from, err := parseCursor(p.After, func(c store.Cursor) bool { return store.ValidID(c.ID) })
	if err != nil {
		return err
	}
	if p.walk, err = store.WalkDeliveries(tx, r.Org.ID, filter); err != nil {
		return err
	}
	found, err := searchDeliveries(tx, &p.walk, from)
	if err != nil {
		return err
	}
	p.Found.Next, p.Found.Incomplete = found.Next, found.Incomplete
	for _, d := range found.Items {
		p.Found.Items = append(p.Found.Items, r.newRow(d, p.walk.Endpoint(&d)))
	}
	return p.count(tx)
}

// findTypes finds the event types to choose from, with the one that was asked for.
func (p *deliveriesPage) findTypes(tx store.Tx) (err error) {
	asked := p.Asked.Get("type")
	p.Types, err = eventChoices(tx, []string{asked})
	if !slices.ContainsFunc(p.Types, func(c eventChoice) bool { return c.Chosen }) && asked != "" {
		p.Types = append(p.Types, eventChoice{Name: asked, Chosen: true}) // a group, or one that was removed since
	}
	return err
}

func searchDeliveries(tx store.Tx, w *store.DeliveryWalk, from store.Cursor) (searchResult[store.Delivery], error) {
	read := func(from store.Cursor, limit int) ([]store.Delivery, error) { return w.Read(tx, from, limit) }
	return search(from, read, func(d store.Delivery) store.Cursor { return d.Latest() }, w.Matches)
}

// count counts what waits and what failed of what the filter selects in other states.
func (p *deliveriesPage) count(tx store.Tx) error {
	counts := map[string]string{}
	for _, state := range []string{"waiting", "failed"} {
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
		s.Count, s.Path, s.Chosen = counts[s.State], p.with("state", s.State), p.Asked.Get("state") == s.State
		p.States = append(p.States, s)
	}
}

// countDeliveries counts deliveries up to maxCounted. If those that are read first don't
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

// pairs is what was asked for as withQuery takes it, with some changed: names and
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
	query := url.Values{}
	for pair := range slices.Chunk(p.pairs(changed...), 2) {
		if query.Del(pair[0]); pair[1] != "" {
			query.Set(pair[0], pair[1])
		}
	}
	if len(query) == 0 {
		return p.Path
	}
	return p.Path + "?" + query.Encode()
}

// Filtered reports whether anything is asked for but the endpoint.
func (p *deliveriesPage) Filtered() bool { return p.with() != p.Path }

// Field is a field of the filter as it was asked for.
func (p *deliveriesPage) Field(name string) string { return p.Asked.Get(name) }

// Statuses are the statuses to choose from, with the one that was asked for.
func (p *deliveriesPage) Statuses() [][2]string {
	statuses := [][2]string{{"2xx", "2xx"}, {"3xx", "3xx"}, {"4xx", "4xx"}, {"5xx", "5xx"}, {"none", "No answer"}}
	asked := p.Asked.Get("status")
	if _, err := strconv.Atoi(asked); err == nil {
		statuses = append(statuses, [2]string{asked, asked})
	}
	return statuses
}
