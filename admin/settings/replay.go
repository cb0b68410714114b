package settings

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"

	"teamdata/store"
)

// maxPreviewed is how many deliveries a preview counts.
const maxPreviewed = 10_000

// replayPage asks whether to replay the deliveries of a filter, or the ticked ones.
type replayPage struct {
	Err       *store.Error // nil: nothing is wrong
	Filter    store.DeliveryFilter
	Ticked    []string
	Preview   store.ReplayPreview
	Endpoints []store.Endpoint // that they go to
	Recent    []store.ReplayJob
	Failed    string // path of the preview with what failed for good alone
	All       string // and of that with all that was not acknowledged
	Back      string
}

// Unsuccessful reports whether the filter includes deliveries that wait for a retry.
func (p *replayPage) Unsuccessful() bool { return p.Filter.State == "unsuccessful" }

// Fields are the names and values of the filter's fields, which the form sends.
func (p *replayPage) Fields() [][]string { return slices.Collect(slices.Chunk(p.Filter.Values(), 2)) }

func (r *request) showReplay() error { return r.renderReplay(r.HTTP.URL.Query(), nil) }

// askedReplay is the job that a query or a form asks for: of the ticked deliveries, or else
// of its filter.
func (r *request) askedReplay(from url.Values) (store.ReplayJob, error) {
	j := store.ReplayJob{OrgID: r.Org.ID}
	if ids := from["id"]; len(ids) > 0 && from.Get("all") == "" {
		j.Deliveries = ids
		return j, nil
	}
	f, err := r.deliveryFilter(from)
	f.State = cmp.Or(f.State, "unsuccessful")
	j.Filter = f
	return j, err
}

// renderReplay counts in small transactions.
func (r *request) renderReplay(from url.Values, wrong *store.Error) error {
	j, err := r.askedReplay(from)
	var p replayPage
	if err == nil {
		p.Preview, err = store.PreviewReplay(r.HTTP.Context(), r.s.store, j, maxPreviewed)
	}
	if err != nil && !store.IsNotFound(err) {
		return err
	}
	if err != nil {
		return errNoPage
	}
	p.Err, p.Filter, p.Ticked = wrong, j.Filter, j.Deliveries
	p.Failed, p.All = r.replayPath(j.Filter, "failed"), r.replayPath(j.Filter, "unsuccessful")
	p.Back = r.path()
	if f := j.Filter.Endpoint; f != "" {
		p.Back = r.path("endpoints", f, "deliveries")
	}
	status := 200
	if wrong != nil {
		status = wrong.Code.Status()
	}
	return r.Show(status, "replay", &p, func(tx store.Tx) (err error) {
		for _, id := range p.Preview.Endpoints {
			e, err := tx.Endpoint(r.Org.ID, id)
			if err == nil {
				p.Endpoints = append(p.Endpoints, e)
			}
		}
		p.Recent, _, err = store.LatestReplays(tx, r.Org.ID, "", 5)
		return err
	})
}

func (r *request) replayPath(f store.DeliveryFilter, state string) string {
	f.State = state
	return withQuery(r.path("replay"), f.Values()...)
}

// startReplay counts first, in small transactions.
func (r *request) startReplay() error {
	form := r.HTTP.PostForm
	j, err := r.askedReplay(form)
	var p store.ReplayPreview
	if err == nil {
		p, err = store.PreviewReplay(r.HTTP.Context(), r.s.store, j, store.MaxReplayCounted)
	}
	if err == nil {
		j.Total, j.More = p.Total, p.More
		err = r.Change(func(tx store.Tx) (err error) {
			j, err = store.StartReplay(tx, r.actor(), j)
			return err
		})
	}
	if err != nil {
		return r.OnForm(err, func(_ int, e *store.Error) error { return r.renderReplay(form, e) })
	}
	if r.s.config.Replaying != nil {
		r.s.config.Replaying()
	}
	return r.Redirect(r.path("replays", j.ID))
}

// replayJobPage is how far a job is, and what became of its deliveries.
type replayJobPage struct {
	store.ReplayJob
	Endpoint     store.Endpoint // of its filter; zero: it has none, or that was deleted
	By           person         // who started it
	Lasted       time.Duration  // since it began, or in all
	Acknowledged int
	Failed       int
	Capped       bool          // there are more, which were not counted
	Latest       []deliveryRow // the latest answers; once it is over, those that failed, if any did
	List         string        // path of the list of what was attempted since it began
	Retry        string        // path of the preview of what failed again
}

// The bounds of what the page reads of a job's deliveries, and shows.
const (
	maxFollowed = 2000
	maxLatest   = 5
)

// Running reports whether the job goes on.
func (p *replayJobPage) Running() bool { return p.State == store.ReplayRunning }

// Most is what the bar ends at.
func (p *replayJobPage) Most() int { return max(p.Total, p.Done, 1) }

// Left is how many are not queued again yet.
func (p *replayJobPage) Left() int { return max(p.Total-p.Done, 0) }

// LeftFor is how long the rest takes; 0: that isn't known.
func (p *replayJobPage) LeftFor() time.Duration {
	if p.More || p.Done == 0 {
		return 0
	}
	return p.Lasted / time.Duration(p.Done) * time.Duration(p.Left())
}

// Followed reports whether it is known what becomes of the deliveries: those that were
// ticked are forgotten once they are queued.
func (p *replayJobPage) Followed() bool { return p.Filter.State != "" }

// States says which deliveries the job's filter selects.
func (p *replayJobPage) States() string {
	if p.Filter.State == "unsuccessful" {
		return "Failed and retrying"
	}
	return strings.ToUpper(p.Filter.State[:1]) + p.Filter.State[1:]
}

// Waiting is how many were queued again and have no final outcome yet.
func (p *replayJobPage) Waiting() int { return max(p.Done-p.Acknowledged-p.Failed, 0) }

// Settled reports whether nothing on the page will change.
func (p *replayJobPage) Settled() bool {
	return !p.Running() && (!p.Followed() || p.Capped || p.Waiting() == 0 || p.Endpoint.Disabled())
}

func (r *request) showReplayJob() error {
	var p replayJobPage
	return r.Show(200, "replay_job", &p, func(tx store.Tx) error {
		if err := r.findReplay(tx, &p); err != nil || !p.Followed() {
			return err
		}
		return r.followReplay(tx, &p)
	})
}

func (r *request) findReplay(tx store.Tx, p *replayJobPage) (err error) {
	if p.ReplayJob, err = store.FindReplay(tx, r.Org.ID, r.Param("replay")); err != nil {
		return err
	}
	p.Lasted = r.Now.Sub(p.CreatedAt)
	if !p.Running() {
		p.Lasted = p.FinishedAt.Sub(p.CreatedAt)
	}
	if p.By, err = r.person(tx, p.ActorID); err != nil {
		return err
	}
	since := store.DeliveryFilter{Type: p.Filter.Type, Query: p.Filter.Query, Since: p.CreatedAt}
	p.List = r.path("deliveries")
	if p.Filter.Endpoint != "" {
		if p.Endpoint, err = tx.Endpoint(r.Org.ID, p.Filter.Endpoint); store.IsNotFound(err) {
			err = nil
		} else {
			p.List = r.path("endpoints", p.Endpoint.ID, "deliveries")
		}
	}
	p.List = withQuery(p.List, append(since.Values(), "time", "between")...)
	since.Endpoint = p.Filter.Endpoint
	p.Retry = r.replayPath(since, "failed")
	return err
}

// followReplay finds what became of the deliveries that the job queued, among those that
// were attempted since.
func (r *request) followReplay(tx store.Tx, p *replayJobPage) error {
	w, err := store.WalkDeliveries(tx, r.Org.ID, store.DeliveryFilter{Endpoint: p.Filter.Endpoint, Type: p.Filter.Type, Query: p.Filter.Query, Since: p.CreatedAt})
	if err != nil {
		if store.IsNotFound(err) { // the endpoint was deleted
			err = nil
		}
		return err
	}
	found, err := w.Read(tx, store.Cursor{}, maxFollowed)
	p.Capped = len(found) == maxFollowed
	var failed []deliveryRow
	for _, d := range found {
		if !w.Matches(d) || !p.again(d) {
			continue
		}
		row, err := r.newRow(tx, d, w.Endpoint(&d))
		if err != nil {
			return err
		}
		switch d.State {
		case store.StateAcknowledged:
			p.Acknowledged++
		case store.StateFailed:
			p.Failed++
			failed = append(failed, row)
		}
		p.Latest = append(p.Latest, row)
	}
	if !p.Running() && len(failed) > 0 {
		p.Latest = failed
	}
	p.Latest = p.Latest[:min(len(p.Latest), maxLatest)]
	return err
}

// again reports whether a delivery that was attempted since the job began had been
// attempted before. One that was finished then starts over.
func (p *replayJobPage) again(d store.Delivery) bool {
	if len(d.History) == 0 {
		return false
	}
	anew := !d.FirstAttemptAt.Before(p.CreatedAt)
	finished := p.Filter.State == "failed" || p.Filter.State == "acknowledged"
	return d.History[0].StartedAt.Before(p.CreatedAt) && (anew || !finished) || len(d.History) == store.MaxHistory && anew
}

func (r *request) cancelReplay() error {
	return r.do("replay-cancelled", r.path("replays", r.Param("replay")), func(tx store.Tx) error {
		_, err := store.CancelReplay(tx, r.actor(), r.Org.ID, r.Param("replay"))
		return err
	})
}

func (r *request) replayDelivery() error {
	return r.do("delivery-replayed", r.path("deliveries", r.Param("delivery")), func(tx store.Tx) error {
		_, err := store.Replay(tx, r.actor(), r.Org.ID, r.Param("delivery"))
		return err
	})
}
