// Package delivery sends what is due: it claims deliveries from the store's
// queue, signs them, posts them and records their outcomes. It also sends the
// mail waiting in the store (mailer.go).
//
// The due index in the store is authoritative. The dispatcher keeps one entry per
// endpoint in a timer wheel: the earliest time at which that endpoint has
// something due. A commit that makes something due reports only the endpoint and
// the time to the dispatcher; what to send is read from the index on the
// endpoint's turn. So a backlog of any size costs constant memory, a restart
// costs one seek per endpoint, and there is only one way to find a delivery.
//
// One goroutine (dispatcher.go) owns the wheel and the endpoint queues, one for
// each endpoint with something to do (endpointqueue.go); healthy endpoints and
// those on probation each share a fair queue (fairqueue.go). Each attempt runs in
// its own goroutine (attempt.go): claimed → signed (target.go) → posted
// (sender.go, progress.go) → judged (outcome.go) → recorded → released. An
// attempt whose outcome was not committed is repeated.
//
// It may import store, its own leaves (mail, wheel) and internal packages, but no
// engine, server or admin. Scheduling of endpoints belongs in dispatcher.go or
// the queues, what goes over the wire in sender.go, what people and metrics read
// about an attempt in outcome.go, what waits for the proxy in behind.go. netguard decides which addresses may be dialed,
// store when to retry or disable.
package delivery
