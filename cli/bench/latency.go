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
	type figure struct {
		from    string
		percent int
	}
	rounds := map[figure][]Round{}
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
		for from, times := range map[string][]time.Duration{"request": delays.fromRequest, "answer": delays.fromAnswer} {
			for _, percent := range []int{50, 99} {
				f := figure{from, percent}
				rounds[f] = append(rounds[f], Round{millis(percentile(times, percent)), millis(percentile(syncs, percent))})
			}
		}
	}
	meanings := map[string]string{
		"request": fmt.Sprintf("request to receipt, at %d events/s", s.Rate), "answer": "answer to receipt; 0: the receipt was first",
	}
	for _, f := range []figure{{"request", 50}, {"answer", 50}, {"request", 99}, {"answer", 99}} {
		s.add(compared(fmt.Sprintf("latency.%s.p%d", f.from, f.percent), "ms", fmt.Sprintf("sync, p%d", f.percent), meanings[f.from], rounds[f]))
	}
	return nil
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
