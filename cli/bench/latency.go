package bench

import (
	"context"
	"fmt"
	"time"

	"teamdata/internal/system"
)

// measureLatency sends events at a steady rate, and measures the syncs that each
// has to wait for.
func (s *session) measureLatency(ctx context.Context) error {
	d, err := s.deployWarm(ctx, "latency")
	if err != nil {
		return err
	}
	figures := []latency{
		{"request", 50, fmt.Sprintf("request to receipt, at %d events/s", s.Rate), nil},
		{"answer", 50, "answer to receipt; 0: the receipt was first", nil},
		{"request", 99, fmt.Sprintf("request to receipt, at %d events/s", s.Rate), nil},
		{"answer", 99, "answer to receipt; 0: the receipt was first", nil},
	}
	for i := range s.Rounds {
		s.round(i)
		syncs, err := s.syncTimes(ctx, s.Duration/4)
		if err != nil {
			return err
		}
		every := time.Second / time.Duration(s.Rate)
		delays, err := d.openLoop(ctx, max(1, int(2*s.Duration/every)), every, d.org.testInTurn)
		if err != nil {
			return err
		}
		for k := range figures {
			figures[k].add(delays, syncs)
		}
	}
	for _, f := range figures {
		s.add(compared(fmt.Sprintf("latency.%s.p%d", f.from, f.percent), "ms", fmt.Sprintf("sync, p%d", f.percent), f.meaning, f.rounds))
	}
	return nil
}

// latency is one of the figures: a percentile beside the same one of the syncs.
type latency struct {
	from    string // request or answer
	percent int
	meaning string
	rounds  []Round
}

func (l *latency) add(d delays, syncs []time.Duration) {
	times := d.fromRequest
	if l.from == "answer" {
		times = d.fromAnswer
	}
	l.rounds = append(l.rounds, Round{millis(percentile(times, l.percent)), millis(percentile(syncs, l.percent))})
}

func (s *session) measureSync(ctx context.Context) error {
	rounds, err := s.inTurns(ctx, nil, func(ctx context.Context) (float64, error) {
		times, err := s.syncTimes(ctx, s.Duration/2)
		var total time.Duration
		for _, t := range times {
			total += t
		}
		return float64(len(times)) / total.Seconds(), err
	})
	if err == nil {
		s.add(alone("sync", "syncs/s", "4 KiB to the disk, one after the other", baselines(rounds)...))
	}
	return err
}

// syncTimes are the times that single syncs of a written page take, sorted.
func (s *session) syncTimes(ctx context.Context, lasts time.Duration) ([]time.Duration, error) {
	start := time.Now()
	return system.SyncTimes(s.folder, func(n int) bool { return n == 0 || time.Since(start) < lasts && ctx.Err() == nil })
}
