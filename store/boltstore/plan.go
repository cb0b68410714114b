package boltstore

import "teamdata/store"

var plans = table[store.Plan]{bucket: bucketPlans, noun: "plan", fields: planFields}

func planFields(p *store.Plan) func(*codec) {
	return func(c *codec) {
		c.text(&p.Name)
		small(c, &p.Features)
	}
}

func (t *tx) Plan(name string) (p store.Plan, err error) {
	return p, plans.get(t, []byte(name), planFields(&p))
}

func (t *tx) Plans() ([]store.Plan, error) { return plans.list(t, "", all) }

func (t *tx) PutPlan(p store.Plan) error {
	t.touched = true
	return plans.put(t, []byte(p.Name), planFields(&p))
}

func (t *tx) DeletePlan(name string) error {
	t.touched = true
	return plans.delete(t, []byte(name))
}
