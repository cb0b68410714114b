package pgstore

import (
	"teamdata/store"
	"teamdata/store/codec"
)

var plans = records[store.Plan]{table: define("plans", 1, text("name"), blob("record")), noun: "plan", fields: codec.Plan}

func (t *tx) Plan(name string) (store.Plan, error) { return plans.get(t, name) }

func (t *tx) Plans() ([]store.Plan, error) { return plans.list(t, "", all) }

func (t *tx) PutPlan(p store.Plan) error {
	t.Touched = true
	return plans.put(t, p, p.Name)
}

func (t *tx) DeletePlan(name string) error {
	t.Touched = true
	return plans.remove(t, name)
}
