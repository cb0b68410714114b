package boltstore

import (
	"teamdata/store"
	"teamdata/store/codec"
)

var plans = table[store.Plan]{bucket: bucketPlans, noun: "plan", fields: codec.Plan}

func (t *tx) Plan(name string) (store.Plan, error) { return plans.get(t, []byte(name)) }

func (t *tx) Plans() ([]store.Plan, error) { return plans.list(t, "", all) }

func (t *tx) PutPlan(p store.Plan) error {
	t.Touched = true
	return plans.put(t, []byte(p.Name), p)
}

func (t *tx) DeletePlan(name string) error {
	t.Touched = true
	return plans.delete(t, []byte(name))
}
