package delivery_test

import "slices"

func (w *world) org(id string) *org {
	for _, o := range w.orgs {
		if o.id == id {
			return o
		}
	}
	return nil
}

// endpointOf is the endpoint that has an id now.
func (w *world) endpointOf(orgID, id string) *endpoint {
	for _, e := range w.endpoints {
		if e.orgID == orgID && e.id == id && e.removedBy == nil {
			return e
		}
	}
	return nil
}

// now is the endpoint that has the id of another now, if there is one.
func (w *world) now(e *endpoint) *endpoint { return w.endpointOf(e.orgID, e.id) }

// anEndpoint is one that an org has, or had.
func (w *world) anEndpoint(o *org) *endpoint {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e := pick(w.Rand, o.endpoints); e != nil {
		return e
	}
	all := slices.DeleteFunc(slices.Clone(w.endpoints), func(e *endpoint) bool { return e.orgID != o.id })
	return pick(w.Rand, all)
}

func (w *world) endpointByNumber(number uint64) *endpoint {
	for _, e := range w.endpoints {
		if e.number == number {
			return e
		}
	}
	return nil
}
