package store

import (
	"time"

	"teamdata/store/rows"
)

// LatencyBounds are the upper bounds of the latency histogram; its last count is
// of the attempts beyond the last bound.
var LatencyBounds = [...]time.Duration{
	50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2500 * time.Millisecond, 5 * time.Second,
}

// DeliveryCounts count the outcomes of the attempts on one endpoint that ended
// within one hour.
type DeliveryCounts struct {
	Acknowledged int
	Retrying     int                         // failed, another attempt will follow
	Failed       int                         // the last attempt failed
	Latency      [len(LatencyBounds) + 1]int // of the acknowledged
}

// DeliveryCountsTx stores the outcomes of attempts by the hour.
type DeliveryCountsTx interface {
	// AddDeliveryCounts adds to an endpoint's counts for the hour of at.
	AddDeliveryCounts(orgID string, endpoint uint64, at time.Time, c DeliveryCounts) error
	// EachDeliveryCounts calls fn in order of the hours, starting with the hour
	// of from, for each endpoint of the org that has counts, removed ones
	// included.
	EachDeliveryCounts(orgID string, from time.Time, fn func(endpoint uint64, hour time.Time, c DeliveryCounts)) error
	// DropDeliveryCounts drops up to limit counts of hours that ended before a
	// time, and returns how many it dropped.
	DropDeliveryCounts(before time.Time, limit int) (int, error)
	// DropDeliveryCountsOf drops up to limit counts of an org, and returns how many
	// it dropped.
	DropDeliveryCountsOf(orgID string, limit int) (int, error)
}

// Add adds other counts.
func (c *DeliveryCounts) Add(other DeliveryCounts) {
	c.Acknowledged += other.Acknowledged
	c.Retrying += other.Retrying
	c.Failed += other.Failed
	for i, n := range other.Latency {
		c.Latency[i] += n
	}
}

// DeliveryCountsRetention is how long counts are kept.
const DeliveryCountsRetention = 31 * 24 * time.Hour

// Counts returns the counts of this attempt alone.
func (a *Attempt) Counts() (c DeliveryCounts) {
	switch {
	case a.Acknowledged():
		c.Acknowledged, c.Latency[latencyPlace(a.Took())] = 1, 1
	case !a.NextAt.IsZero():
		c.Retrying = 1
	default:
		c.Failed = 1
	}
	return c
}

func latencyPlace(took time.Duration) int {
	for i, bound := range LatencyBounds {
		if took <= bound {
			return i
		}
	}
	return len(LatencyBounds)
}

func dropDeliveryCounts(tx Tx, step int) (int, error) {
	return tx.DropDeliveryCounts(tx.Now().Add(-DeliveryCountsRetention), step)
}

// CountsFields code counts as they are stored; new ones go to the end.
func CountsFields(c *rows.Codec, n *DeliveryCounts) {
	c.Int(&n.Acknowledged)
	c.Int(&n.Retrying)
	c.Int(&n.Failed)
	for i := range n.Latency {
		c.Int(&n.Latency[i])
	}
}
