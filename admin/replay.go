package admin

import (
	"teamdata/store"
	"teamdata/wire/strictjson"
	"teamdata/wire/web"
)

func replayJSON(j store.ReplayJob) []byte {
	var filter []byte
	if j.Filter.State != "" { // none where deliveries are named
		filter = filterJSON(j.Filter)
	}
	return newObject().text("id", j.ID).text("state", j.State.String()).number("done", int64(j.Done)).
		number("total", int64(j.Total)).flag("more", j.More).raw("filter", filter).nullable("actorId", j.ActorID).
		time("createdAt", j.CreatedAt).time("finishedAt", j.FinishedAt).end()
}

func filterJSON(f store.DeliveryFilter) []byte {
	return newObject().nullable("endpoint", f.Endpoint).nullable("state", f.State).nullable("type", f.Type).nullable("status", f.Status).
		time("since", f.Since).time("until", f.Until).nullable("q", f.Query).end()
}

func previewJSON(p store.ReplayPreview) []byte {
	o := newObject().number("total", int64(p.Total)).flag("more", p.More)
	return list(o, "endpoints", p.Endpoints, func(id string) []byte {
		return newObject().text("endpointId", id).number("total", int64(p.ByEndpoint[id])).end()
	}).end()
}

func (r *request) listReplays() error {
	return r.page(func(tx store.Tx, q web.PageQuery) (store.Page, error) {
		jobs, more, err := store.LatestReplays(tx, r.org(), q.After.ID, q.Limit)
		page := store.Page{Items: []byte(web.PageStart), More: more}
		for _, j := range jobs {
			page = withItem(page, replayJSON(j))
			page.Last = store.Cursor{ID: j.ID}
		}
		return page, err
	})
}

func (r *request) readReplay() error {
	return r.view(func(tx store.Tx) (store.Answer, error) {
		j, err := store.FindReplay(tx, r.org(), r.Param("replay"))
		return ok(replayJSON(j)), err
	})
}

// createReplay counts first, in small transactions, so no writer waits for that. It has
// no deadline.
func (r *request) createReplay() error {
	j, dryRun := r.readNewReplay()
	var p store.ReplayPreview
	var refused error
	if r.checkInput() == nil {
		r.clearDeadlines()
		p, refused = store.PreviewReplay(r.HTTP.Context(), r.api.store, j, store.MaxReplayCounted)
		j.Total, j.More = p.Total, p.More
	}
	if dryRun {
		return r.view(func(store.Tx) (store.Answer, error) { return ok(previewJSON(p)), refused })
	}
	err := r.idempotent(func(tx store.Tx) (store.Answer, error) {
		if refused != nil {
			return store.Answer{}, refused
		}
		started, err := store.StartReplay(tx, r.actor, j)
		return created(replayJSON(started)), err
	})
	if replaying := r.api.config.Replaying; err == nil && replaying != nil {
		replaying()
	}
	return err
}

// readNewReplay reads which deliveries are asked for. None is not all of them: what is
// left out by mistake must not replay everything.
func (r *request) readNewReplay() (j store.ReplayJob, dryRun bool) {
	j.OrgID = r.org()
	texts, fields := map[string]*string{}, []strictjson.Field{}
	for _, name := range store.DeliveryFilterFields {
		texts[name] = new(string)
		fields = append(fields, r.in.Value(name, texts[name]))
	}
	r.read(r.in.Object("filter", fields...), r.in.Value("deliveryIds", &j.Deliveries), r.in.Value("dryRun", &dryRun))
	if r.bodyErr == nil {
		j.Filter, r.bodyErr = store.ParseDeliveryFilter(func(name string) string { return *texts[name] }, nil)
		r.bodyErr = strictjson.Inside("filter", r.bodyErr)
	}
	if r.bodyErr == nil && j.Filter == (store.DeliveryFilter{}) && len(j.Deliveries) == 0 {
		r.bodyErr = store.Invalid("filter", "is missing").Advise(`give a field of it, or deliveryIds; {"state":"unsuccessful"} selects all that failed or are waiting for a retry`)
	}
	return j, dryRun
}

func (r *request) cancelReplay() error {
	return r.action(func(tx store.Tx) (store.Answer, error) {
		j, err := store.CancelReplay(tx, r.actor, r.org(), r.Param("replay"))
		return ok(replayJSON(j)), err
	})
}
