package bench

import (
	"context"
	"fmt"
	"time"
)

// measureLatency offers events at a steady rate, beside the syncs that stand in
// the way of each.
func (s *session) measureLatency(ctx context.Context) error {
	d, err := s.startDelivering(ctx, "latency.db", deliveryEndpoints)
	if err != nil {
		return err
	}
	defer d.end()
	var found latencies
	for i := range s.Rounds {
		s.step("round %d of %d", i+1, s.Rounds)
		syncs, err := s.syncTimes(ctx, s.Duration/4)
		if err != nil {
			return err
		}
		every := time.Second / time.Duration(s.Rate)
		n := max(1, int(2*s.Duration/every))
		fromRequest, fromAnswer, err := d.offered(ctx, d.receiver, n, every, d.world.orgs[0].inTurn)
		if err != nil {
			return err
		}
		found.add(syncs, fromRequest, fromAnswer)
	}
	found.report(s)
	return nil
}

// latencies are the rounds of the four figures.
type latencies struct {
	request, answer [2][]Round // 50th percentile, 99th
}

var percents = [2]int{50, 99}

// add takes in a round. The middle stands beside the middle of the syncs, and
// the tail beside their tail.
func (l *latencies) add(syncs, fromRequest, fromAnswer []time.Duration) {
	for i, percent := range percents {
		floor := millis(percentile(syncs, percent))
		l.request[i] = append(l.request[i], Round{millis(percentile(fromRequest, percent)), floor})
		l.answer[i] = append(l.answer[i], Round{millis(percentile(fromAnswer, percent)), floor})
	}
}

func (l *latencies) report(s *session) {
	for i, percent := range percents {
		name, floor := fmt.Sprintf("p%d", percent), fmt.Sprintf("sync, p%d", percent)
		s.add(compared("latency.request."+name, "ms", floor, fmt.Sprintf("request to receipt, %d events/s offered", s.Rate), l.request[i]))
		s.add(compared("latency.answer."+name, "ms", floor, "answer to receipt; 0: the receipt was first", l.answer[i]))
	}
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
