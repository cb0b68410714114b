package settings

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"teamdata/store"
	"teamdata/wire/eventtype"
)

// maxFailed is how many failed deliveries of an endpoint are counted.
const maxFailed = 100

// endpointHead is what all tabs of an endpoint's page begin with.
type endpointHead struct {
	endpointRow
	OrgID    string
	Tab      string        // overview, deliveries or settings
	Failed   string        // how many deliveries failed for good; empty: none
	Types    []eventChoice // that a test may have
	Replay   string        // how many of them the link of the head replays; empty: none
	ReplayTo string        // path of the preview of that
	Unused   bool          // nothing was sent, and the page has one button for that below
}

// Primary is the page's first thing to do: the sample where nobody pulls, else the act of the
// state; empty: the page has another.
func (h endpointHead) Primary() string {
	switch {
	case h.Tab == "settings":
		return ""
	case h.Health.State == stateSilent:
		return "sample"
	}
	return "act"
}

// endpointPage is the data of endpoint.html.
type endpointPage struct {
	Head    endpointHead
	Span    span
	Sum     point // of the span
	Charts  []chart
	Latest  []deliveryRow
	Alike   int       // how many of the latest deliveries ended as the last error did
	Of      int       // so many
	NextDue time.Time // of the waiting deliveries; zero: none is waiting, or it is due

	Pull pulledPage // of an endpoint that is pulled
	now  time.Time

	endpointWarnings
	Rate      string    // that it waits for, in words
	RateUntil time.Time // when it has waited for its rate; zero: it doesn't
	Held      string    // for how long deliveries are held while it is disabled
	DropAt    time.Time // when the oldest held delivery is dropped; zero: there is none
}

// endpointWarnings are why events may not arrive as they should.
type endpointWarnings struct {
	ProxyDown bool     // webhooks wait for the server's own proxy
	Refused   string   // why nothing is delivered to its URL; empty: nothing is known
	Twins     []string // ids of other endpoints with its URL

	Client     *certificateBox // the client certificate that ends soon, or has ended; nil: none does
	SettingsTo string          // path of where it is replaced
}

// endpoint finds the endpoint of the path.
func (r *request) endpoint(tx store.Tx) (store.Endpoint, error) {
	return store.FindEndpoint(tx, r.Org.ID, r.Param("endpoint"))
}

// endpointPath is the path of a page of the endpoint of the path.
func (r *request) endpointPath(parts ...string) string {
	return r.path(append([]string{"endpoints", r.Param("endpoint")}, parts...)...)
}

func (r *request) showEndpoint() error {
	p := endpointPage{Span: r.spanOf()}
	return r.Show(200, "endpoint", &p, func(tx store.Tx) error { return p.find(r, tx) })
}

// find fills in the page of the endpoint of the path.
func (p *endpointPage) find(r *request, tx store.Tx) (err error) {
	p.now = r.Now
	if p.Head, err = r.endpointHead(tx, "overview"); err != nil {
		return err
	}
	if err := p.findAttempts(r, tx, p.Head.Endpoint); err != nil {
		return err
	}
	p.Head.Unused = len(p.Latest) == 0
	return p.findWarnings(r, tx, p.Head.Endpoint)
}

// latestShown and latestJudged are how many deliveries the page shows, and compares
// with the last error.
const (
	latestShown  = 10
	latestJudged = 60
)

func (p *endpointPage) findAttempts(r *request, tx store.Tx, e store.Endpoint) error {
	series, err := r.series(tx, p.Span, []uint64{e.Number})
	if err != nil {
		return err
	}
	p.Sum = series.sum()
	p.Charts = charts(p.Span, series)
	if e.Pull() {
		if err := p.findPulled(r, tx); err != nil {
			return err
		}
		if !r.isLive() { // which shows none
			if err := p.findFlow(r, tx); err != nil {
				return err
			}
		}
	}
	n := latestShown
	if p.Head.Health.LastError != nil {
		n = latestJudged
	}
	latest, err := tx.LatestDeliveries([]uint64{e.Number}, store.DeliveryLists, store.Cursor{}, n)
	for i, d := range latest {
		if i < latestShown {
			row, err := r.newRow(tx, d, &e)
			if err != nil {
				return err
			}
			p.Latest = append(p.Latest, row)
		}
		if a, bad := latest[i].LastAttempt(), p.Head.Health.Last(); a != nil && bad != nil {
			p.Of++
			if a.Status == bad.Status && (a.Status > 0 || a.Reason == bad.Reason) {
				p.Alike++
			}
		}
	}
	if err != nil || p.Head.Health.Waiting.Later == 0 {
		return err
	}
	next, _, err := tx.DeliveryPage(e.Number, store.ListWaiting, store.Cursor{}, 1)
	if len(next) > 0 && next[0].DueAt.After(r.Now) {
		p.NextDue = next[0].DueAt
	}
	return err
}

func (p *endpointPage) findWarnings(r *request, tx store.Tx, e store.Endpoint) (err error) {
	p.Held, p.Rate = r.heldFor(), rateText(e.Sending.Rate)
	if p.RateUntil, err = store.WaitsForRate(tx, &e, r.Now); err != nil {
		return err
	}
	if p.DropAt, err = r.dropAt(tx, e); err != nil {
		return err
	}
	p.endpointWarnings, err = r.warningsOf(tx, e)
	return err
}

func (r *request) warningsOf(tx store.Tx, e store.Endpoint) (w endpointWarnings, err error) {
	if e.Pull() {
		return w, nil
	}
	w.ProxyDown = r.s.proxyDown()
	if warn := r.s.config.WarnOfURL; warn != nil {
		w.Refused = warn(e.URL)
	}
	if box := certificatesOf(e.Sending.ClientCertificate, r.Now); box != nil && box.Warns() {
		w.Client, w.SettingsTo = box, r.endpointPath("settings")
	}
	w.Twins, err = store.WithSameURL(tx, e)
	return w, err
}

// endpointHead finds the endpoint of the path, and counts its failed deliveries.
func (r *request) endpointHead(tx store.Tx, tab string) (head endpointHead, err error) {
	e, err := r.endpoint(tx)
	if err != nil {
		return head, err
	}
	rows, err := r.rows(tx, []store.Endpoint{e})
	if err != nil {
		return head, err
	}
	head = endpointHead{endpointRow: rows[0], OrgID: r.Org.ID, Tab: tab}
	if head.Types, err = eventChoices(tx, nil); err != nil {
		return head, err
	}
	failed, more, err := tx.DeliveryPage(e.Number, store.ListFailed, store.Cursor{}, maxFailed)
	if err != nil || len(failed) == 0 {
		return head, err
	}
	head.Failed = formatCount(len(failed), more)
	for _, s := range spans { // the shortest that has some
		since := r.Now.Add(-s.Step * time.Duration(s.steps))
		n := slices.IndexFunc(failed, func(d store.Delivery) bool { return d.ShownAt().Before(since) })
		if n < 0 {
			n = len(failed)
		}
		if n > 0 {
			head.Replay = formatCount(n, more && n == len(failed))
			head.ReplayTo = withQuery(r.path("replay"), "endpoint", e.ID, "state", "failed", "since", store.FormatTime(since))
			break
		}
	}
	return head, nil
}

// heldFor formats how long deliveries are held.
func (r *request) heldFor() string { return formatDays(r.s.config.HeldRetention) }

// dropAt returns when the oldest held delivery of a disabled endpoint is dropped;
// zero: none is held.
func (r *request) dropAt(tx store.Tx, e store.Endpoint) (at time.Time, err error) {
	if !e.Disabled() {
		return at, nil
	}
	oldest, _, err := tx.DeliveryPage(e.Number, store.ListWaiting, store.Cursor{}, 1)
	switch {
	case len(oldest) == 0:
	case e.Pull(): // which holds a delivery for so long from its beginning
		at = oldest[0].DueAt.Add(r.s.config.HeldRetention)
	default:
		at = e.HeldSince(oldest[0].DueAt).Add(r.s.config.HeldRetention)
	}
	return at, err
}

// sendTest sends the example of an event type, webhook.test if the form names none. It
// leads to where one sees it arrive: the delivery, or the page of a new endpoint if that
// has the form. A form that is sent twice sends one.
func (r *request) sendTest() error {
	id, _, err := r.ChangeOnce(func(tx store.Tx) (string, error) {
		test, err := eventtype.TestOf(tx, r.Org.ID, r.Field("type"))
		if err != nil {
			return "", err
		}
		d, err := test.Send(tx, r.Org.ID, r.Param("endpoint"))
		return d.ID, err
	})
	if err != nil {
		return err
	}
	if r.Field("from") == "setup" {
		return r.Redirect(withQuery(r.endpointPath("setup"), "test", id))
	}
	return r.Done("test-sent", r.path("deliveries", id))
}

func (r *request) enableEndpoint() error {
	return r.actOnEndpoint(store.EnableEndpoint, "endpoint-enabled")
}
func (r *request) disableEndpoint() error {
	return r.actOnEndpoint(store.DisableEndpoint, "endpoint-disabled")
}

func (r *request) actOnEndpoint(act func(tx store.Tx, actorID, orgID, id string) error, done string) error {
	return r.do(done, r.endpointPath(), func(tx store.Tx) error { return act(tx, r.actor(), r.Org.ID, r.Param("endpoint")) })
}

func (r *request) confirmDisable() error {
	q := confirmPage{Title: "Disable this endpoint?", Button: "Disable", To: "disable"}
	return r.confirmForEndpoint(&q, func(waiting string, pull bool) {
		q.Facts = []confirmFact{
			nowWaiting(waiting, "will be held."),
			{"From now on", "", "New events are held, not lost, for up to " + r.heldFor() + "."},
			{"When enabled", "", "All of them are sent, oldest first."},
		}
		if pull {
			q.Facts[2].Text = "All of them are handed out, oldest first."
		}
	})
}

func (r *request) confirmDelete() error {
	q := confirmPage{Title: "Delete this endpoint?", Button: "Delete endpoint", To: "delete"}
	return r.confirmForEndpoint(&q, func(waiting string, pull bool) {
		q.Facts = []confirmFact{
			nowWaiting(waiting, "will never be sent."),
			{"From now on", "", "Nothing is sent to it. Its secret and its history are deleted."},
			{"Undo", "", "This can't be undone. To pause it, disable it instead."},
		}
		if pull {
			q.Facts[0] = nowWaiting(waiting, "will never be handed out.")
			q.Facts[1].Text = "Nothing can be pulled from it. Its secret and its history are deleted, and API keys that may pull from it alone are revoked."
		}
	})
}

// nowWaiting says what happens to the deliveries that wait; empty: none does.
func nowWaiting(waiting, text string) confirmFact {
	if waiting == "" {
		return confirmFact{"Now", "No deliveries", "are waiting."}
	}
	return confirmFact{"Now", waiting, text}
}

// confirmForEndpoint asks for confirmation about the endpoint of the path. explain is called
// with how many deliveries wait, empty: none, and whether it is pulled.
func (r *request) confirmForEndpoint(q *confirmPage, explain func(waiting string, pull bool)) error {
	q.To, q.Back = r.endpointPath(q.To), r.endpointPath()
	return r.Show(200, "confirm", q, func(tx store.Tx) error {
		e, err := r.endpoint(tx)
		if err != nil {
			return err
		}
		q.About = endpointName(e)
		w, err := tx.CountWaiting(e, maxWaiting)
		explain(counted(w.Total(), w.Capped, "waiting delivery", "waiting deliveries"), e.Pull())
		return err
	})
}

// deleteEndpoint leads to the list, also when the form is sent a second time.
func (r *request) deleteEndpoint() error {
	_, _, err := r.ChangeOnce(func(tx store.Tx) (string, error) {
		return "", store.RemoveEndpoint(tx, r.actor(), r.Org.ID, r.Param("endpoint"))
	})
	if err != nil {
		return err
	}
	return r.Done("endpoint-deleted", r.path("endpoints"))
}

// EventsText formats what the endpoint receives, in a few words.
func (e endpointRow) EventsText() string {
	switch others := len(e.Events) - 1; {
	case slices.Contains(e.Events, store.AllEvents):
		return "all events"
	case others > 0:
		return fmt.Sprintf("%s and %d more", e.Events[0], others)
	}
	return e.Events[0]
}

type endpointsPage struct {
	Endpoints []endpointRow // that the filter shows, those in trouble first
	State     string        // filter: stateFailing, stateSilent or stateDisabled; empty: any
	Query     string        // filter: a part of the URL or the description
	All       int
	Failing   int
	Silent    int
	Disabled  int
	Pulled    bool // some are pulled
	Most      int  // endpoints that an org may have
}

// Full reports whether no more endpoints can be added.
func (p endpointsPage) Full() bool { return p.All >= p.Most }

// Nothing says in words that the filter selects no endpoints.
func (p endpointsPage) Nothing() string {
	text := "None"
	if p.Query != "" {
		text = "None with “" + p.Query + "” in its URL or description"
	}
	return text + cmp.Or(map[string]string{stateFailing: " is failing.", stateSilent: " is left alone by its consumers.", stateDisabled: " is disabled."}[p.State], " was found.")
}

func (r *request) listEndpoints() error {
	query := r.HTTP.URL.Query()
	p := endpointsPage{State: query.Get("state"), Query: strings.TrimSpace(query.Get("q")), Most: store.MaxEndpoints}
	return r.Show(200, "endpoints", &p, func(tx store.Tx) error {
		endpoints, err := tx.Endpoints(r.Org.ID)
		if err != nil {
			return err
		}
		rows, err := r.rows(tx, endpoints)
		p.fill(rows)
		return err
	})
}

// fill counts the endpoints, and keeps the ones that match the filter.
func (p *endpointsPage) fill(rows []endpointRow) {
	p.All = len(rows)
	for _, row := range rows {
		switch row.Health.State {
		case stateFailing:
			p.Failing++
		case stateSilent:
			p.Silent++
		case stateDisabled:
			p.Disabled++
		}
		p.Pulled = p.Pulled || row.Pull()
		state := !slices.Contains([]string{stateFailing, stateSilent, stateDisabled}, p.State) || p.State == row.Health.State
		if state && containsFold(p.Query)(endpointTitle(row.Endpoint)+" "+row.Description) {
			p.Endpoints = append(p.Endpoints, row)
		}
	}
	slices.SortStableFunc(p.Endpoints, func(a, b endpointRow) int { return cmp.Compare(a.rank(), b.rank()) })
}
