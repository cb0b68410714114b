package delivery

// fairQueue is the endpoint queues waiting for a turn, round robin by org, and
// within an org by endpoint: an org with many endpoints gets no more turns than
// one with few.
type fairQueue struct {
	orgs  []*orgQueue // orgs with waiting queues, in order
	byOrg map[string]*orgQueue
}

type orgQueue struct {
	org       string
	endpoints []*endpointQueue
}

func (f *fairQueue) empty() bool { return len(f.orgs) == 0 }

// push appends a queue to those of its org.
func (f *fairQueue) push(q *endpointQueue) {
	o := f.byOrg[q.org]
	if o == nil {
		if f.byOrg == nil {
			f.byOrg = make(map[string]*orgQueue)
		}
		o = &orgQueue{org: q.org}
		f.byOrg[q.org] = o
		f.orgs = append(f.orgs, o)
	}
	o.endpoints = append(o.endpoints, q)
}

// pop takes the first queue of the first org, and moves the org to the end.
func (f *fairQueue) pop() *endpointQueue {
	o := f.orgs[0]
	q := o.endpoints[0]
	f.orgs, o.endpoints = f.orgs[1:], o.endpoints[1:]
	if len(o.endpoints) > 0 {
		f.orgs = append(f.orgs, o)
	} else {
		delete(f.byOrg, o.org)
	}
	return q
}
