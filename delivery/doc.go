// Package delivery sends what is due: it claims deliveries from the store's
// queue, signs them, posts them and records the outcome.
//
// The due index in the store is the truth. The dispatcher holds one entry per
// endpoint, in a timer wheel: the earliest time at which that endpoint has
// something due. A commit that makes something due tells the dispatcher the
// endpoint and the time, and nothing else; what to send is read from the index
// when the endpoint's turn comes. So a backlog of any size costs constant
// memory, a restart costs one seek an endpoint, and there is one way in which
// a delivery is found.
//
// One goroutine (dispatcher.go) owns the wheel and the lanes, one lane per
// endpoint with something to do (lane.go). Each attempt is a goroutine of its
// own (attempt.go): claimed → signed and sent (sender.go) → recorded →
// released. An attempt whose outcome was not committed is made again.
package delivery
