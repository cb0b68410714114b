package store

import "time"

// LatencyBounds divide the attempts by how long they took: the first count is of
// those up to the first bound, the last of those beyond the last.
var LatencyBounds = [...]time.Duration{
	50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2500 * time.Millisecond, 5 * time.Second,
}

// DeliveryCounts are the outcomes of the attempts to send to one endpoint that
// ended within one hour.
type DeliveryCounts struct {
	Acknowledged int
	Retrying     int                         // failed, with another attempt to come
	Failed       int                         // the last attempt failed
	Latency      [len(LatencyBounds) + 1]int // of the acknowledged
}

// DeliveryCountsTx keep what became of attempts, by the hour.
type DeliveryCountsTx interface {
	// AddDeliveryCounts adds to what an endpoint has in the hour of a time.
	AddDeliveryCounts(orgID string, endpoint uint64, at time.Time, c DeliveryCounts) error
	// EachDeliveryCounts calls fn for each endpoint of the org, also one that was
	// removed, and each hour from that of a time on that has counts, in the order of
	// the hours.
	EachDeliveryCounts(orgID string, from time.Time, fn func(endpoint uint64, hour time.Time, c DeliveryCounts)) error
	// DropDeliveryCounts drops up to limit counts of hours that ended before a time,
	// and returns how many it dropped.
	DropDeliveryCounts(before time.Time, limit int) (int, error)
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

// DeliveryCountsRetention is how long the counts are kept.
const DeliveryCountsRetention = 31 * 24 * time.Hour

// Counts are those of the attempt alone.
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

func dropDeliveryCounts(tx Tx) (int, error) {
	return tx.DropDeliveryCounts(tx.Now().Add(-DeliveryCountsRetention), chunk)
}
