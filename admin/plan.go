package admin

import (
	"slices"

	"teamdata/store"
	"teamdata/wire/strictjson"
	"teamdata/wire/web"
)

func planJSON(p store.Plan) []byte {
	_, builtIn := store.BuiltInPlan(p.Name)
	return newObject().text("name", p.Name).texts("features", p.Features.Names()).flag("builtIn", builtIn).end()
}

// listPlans lists the built-in plans first.
func (r *request) listPlans() error {
	return r.page(func(tx store.Tx, q web.PageQuery) (store.Page, error) {
		plans, err := tx.Plans()
		all := slices.Concat(store.BuiltInPlans, plans)
		return pageOf(all, len(store.BuiltInPlans), q, func(p store.Plan) string { return p.Name }, planJSON), err
	})
}

func (r *request) putPlan() error {
	p := store.Plan{Name: r.Param("name")}
	r.read(strictjson.Required(strictjson.Set(r.in, "features", &p.Features, store.ParseFeature), store.FeaturesAdvice))
	return r.update(func(tx store.Tx) (store.Answer, error) {
		_, err := store.FindPlan(tx, p.Name)
		if err != nil && !store.IsNotFound(err) {
			return store.Answer{}, err
		}
		isNew := store.IsNotFound(err)
		return put(isNew, planJSON(p)), r.operated(store.AddPlan(tx, p), tx, createdOr("plan", isNew), p.Name)
	})
}

// put returns the answer to a PUT of a record, which may be new.
func put(isNew bool, record []byte) store.Answer {
	if isNew {
		return created(record)
	}
	return ok(record)
}

func (r *request) deletePlan() error {
	return r.remove("plan.deleted", r.Param("name"), store.RemovePlan)
}
