package settings

import (
	"cmp"
	"net/url"
	"slices"

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

// replayJobPage is how far a job is.
type replayJobPage struct {
	store.ReplayJob
	Endpoint store.Endpoint // of its filter; zero: it has none, or that was deleted
	By       person         // who started it
}

// Running reports whether the job goes on.
func (p replayJobPage) Running() bool { return p.State == store.ReplayRunning }

// Most is what the bar ends at.
func (p replayJobPage) Most() int { return max(p.Total, p.Done, 1) }

func (r *request) showReplayJob() error {
	var p replayJobPage
	return r.Show(200, "replay_job", &p, func(tx store.Tx) error { return r.findReplay(tx, &p) })
}

func (r *request) findReplay(tx store.Tx, p *replayJobPage) (err error) {
	if p.ReplayJob, err = store.FindReplay(tx, r.Org.ID, r.Param("replay")); err != nil {
		return err
	}
	if p.By, err = r.person(tx, p.ActorID); err != nil {
		return err
	}
	if p.Filter.Endpoint != "" {
		p.Endpoint, err = tx.Endpoint(r.Org.ID, p.Filter.Endpoint)
		if store.IsNotFound(err) {
			err = nil
		}
	}
	return err
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
