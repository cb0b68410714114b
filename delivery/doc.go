// Package delivery sends what is due: it claims deliveries from the store's
// queue, signs them, posts them and records their outcomes. Mail that waits in
// the store is sent by it too (mailer.go).
//
// The due index in the store is the truth. The dispatcher holds one entry per
// endpoint, in a timer wheel: the earliest time at which that endpoint has
// something due. A commit that makes something due reports the endpoint and the
// time to the dispatcher, and nothing else; what to send is read from the index
// when it is the endpoint's turn. So a backlog of any size costs constant
// memory, a restart costs one seek per endpoint, and there is one way in which
// a delivery is found.
//
// One goroutine (dispatcher.go) owns the wheel and the endpoint queues, one for
// each endpoint with something to do (endpointqueue.go); healthy endpoints and
// those on probation each share a fair queue (fairqueue.go). Each attempt is a
// goroutine of its own (attempt.go): claimed → signed (target.go) → posted
// (sender.go, progress.go) → judged (outcome.go) → recorded → released. An
// attempt whose outcome was not committed is made again.
//
// It may import store, its own leaves (mail, wheel) and internal packages, and
// neither an engine, server nor admin. What decides when an endpoint gets a turn
// belongs in dispatcher.go or the queues, what goes over the wire in sender.go,
// what people and metrics read about an attempt in outcome.go. Which addresses
// may be dialed is netguard's rule, when to retry or disable is the store's.
package delivery
