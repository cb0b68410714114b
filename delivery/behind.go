package delivery

import "teamdata/delivery/egress"

// outcomeBehind means that no attempt was made, or that one came to nothing, since the proxy
// has failed that the receiver is behind. It says nothing about the receiver.
const outcomeBehind = "behind"

// wait lets an endpoint whose delivery was given back wait until the proxy works again, which
// may be by now. Others, which the proxy doesn't concern, have their turns meanwhile.
func (d *Dispatcher) wait(q *endpointQueue) {
	d.givenBack.Add(1)
	if d.config.Proxy.Down() == nil {
		d.enqueue(q)
		return
	}
	d.behind[q.endpoint] = true
	d.evict(q)
}

// readProxy gives the endpoints that waited for the proxy their turns once it works again.
func (d *Dispatcher) readProxy() {
	select {
	case <-d.proxyUp:
	default:
		return
	}
	for endpoint := range d.behind {
		d.enqueue(d.queue(endpoint))
	}
	clear(d.behind)
}

// watchProxy is told when the proxy works again.
func (d *Dispatcher) watchProxy() {
	if d.config.Proxy != nil {
		// A connection that is kept through a proxy that has failed leads nowhere.
		d.config.Proxy.Attach(shortage, d.disconnect, func() {
			signal(d.proxyUp)
			signal(d.inbox.hasWork)
		})
	}
}

// ProxyDown returns how the egress proxy fails; nil: there is none, or it works.
func (d *Dispatcher) ProxyDown() *egress.Failure {
	if d.config.Proxy == nil {
		return nil
	}
	return d.config.Proxy.Down()
}

// GivenBack returns how often a delivery was given back since the proxy failed.
func (d *Dispatcher) GivenBack() uint64 { return d.givenBack.Load() }
