// Package metrics turns what the parts of the appliance tell of themselves into
// Prometheus metrics.
//
// What happens often is told to a [Metrics] as it happens: requests, commits,
// attempts. It costs a few atomic additions, no lock and no allocation, but for
// attempts that fail. What only is so at a moment, such as how long the queue is,
// is asked of [Sources] when somebody scrapes. All names are in [Catalogue].
package metrics
