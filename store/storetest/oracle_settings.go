package storetest

import (
	"maps"
	"slices"

	"teamdata/store"
)

// sorted lists up to limit records behind a key, in the order of their keys.
func sorted[T any](in map[string]T, after string, limit int) (list []T) {
	for _, key := range slices.Sorted(maps.Keys(in)) {
		if key > after && len(list) < limit {
			list = append(list, in[key])
		}
	}
	return list
}

const unlimited = int(^uint(0) >> 1)

func (o *oracle) Orgs(after string, limit int) ([]store.Org, error) {
	return sorted(o.orgs, after, limit), nil
}

func (o *oracle) Plans() ([]store.Plan, error) { return sorted(o.plans, "", unlimited), nil }

func (o *oracle) DeletePlan(name string) error { return drop(o.plans, name) }

func (o *oracle) APIKeys(orgID, after string, limit int) (list []store.APIKey, err error) {
	for _, k := range sorted(o.keys, after, unlimited) {
		if k.OrgID == orgID && len(list) < limit {
			list = append(list, k)
		}
	}
	return list, nil
}

func (o *oracle) DeleteEndpoint(e store.Endpoint) error {
	o.removed[e.Number] = true
	return drop(o.endpoints, pair{e.OrgID, e.ID})
}

func (o *oracle) RemovedEndpoints(limit int) ([]uint64, error) {
	numbers := slices.Sorted(maps.Keys(o.removed))
	return numbers[:min(len(numbers), limit)], nil
}

func (o *oracle) ForgetEndpoint(number uint64) error {
	delete(o.acknowledged, number)
	return drop(o.removed, number)
}

func (o *oracle) EventType(name string) (store.EventType, error) { return find(o.eventTypes, name) }

func (o *oracle) EventTypes() ([]store.EventType, error) {
	return sorted(o.eventTypes, "", unlimited), nil
}

func (o *oracle) PutEventType(e store.EventType) error { return keep(o.eventTypes, e.Name, e) }

func (o *oracle) DeleteEventType(name string) error { return drop(o.eventTypes, name) }

func (o *oracle) OperatorToken(id string) (store.OperatorToken, error) { return find(o.tokens, id) }

func (o *oracle) OperatorTokens() ([]store.OperatorToken, error) {
	return sorted(o.tokens, "", unlimited), nil
}

func (o *oracle) PutOperatorToken(v store.OperatorToken) error { return keep(o.tokens, v.ID, v) }

func (o *oracle) DeleteOperatorToken(id string) error { return drop(o.tokens, id) }
