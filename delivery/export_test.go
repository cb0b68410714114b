package delivery

import (
	"context"
	"net/http"

	"teamdata/delivery/mail"
)

// SendThrough lets attempts go through a network of a test's own, instead of
// the machine's.
func (d *Dispatcher) SendThrough(network http.RoundTripper) {
	s := newSender(d.config)
	s.network = network
	d.send = s.send
}

// Held is how many endpoints the dispatcher remembers something of, in each of
// the places where it does. It is for a dispatcher that is known to sleep.
func (d *Dispatcher) Held() (queues, timers, notices int) {
	return len(d.queues), d.wheel.Len(), len(d.inbox.due) + len(d.inbox.results)
}

// SendThrough lets mail go to a server of a test's own.
func (m *Mailer) SendThrough(send func(context.Context, mail.Message) error) { m.send = send }
