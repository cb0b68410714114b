package bench

import (
	"context"
	"os"
	"slices"
	"time"
)

const syncMeaning = "4 KiB to the disk, one after the other"

func (s *session) measureSync(ctx context.Context) error {
	rounds, err := s.inTurns(ctx, nil, func(ctx context.Context) (float64, error) {
		times, err := s.syncTimes(ctx, s.Duration/2)
		return float64(len(times)) / total(times).Seconds(), err
	})
	if err == nil {
		s.add(alone("sync", "syncs/s", syncMeaning, floors(rounds)...))
	}
	return err
}

// syncTimes are the times that single syncs of a written page take, sorted.
func (s *session) syncTimes(ctx context.Context, lasts time.Duration) (times []time.Duration, err error) {
	file, err := os.CreateTemp(s.folder, "sync-")
	if err != nil {
		return nil, err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	page := make([]byte, 4096)
	if err := writeAndSync(file, page); err != nil { // the first one also makes room
		return nil, err
	}
	for start := time.Now(); len(times) == 0 || time.Since(start) < lasts; {
		begin := time.Now()
		if err := writeAndSync(file, page); err != nil {
			return nil, err
		}
		times = append(times, time.Since(begin))
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	slices.Sort(times)
	return times, nil
}

func writeAndSync(file *os.File, page []byte) error {
	if _, err := file.WriteAt(page, 0); err != nil {
		return err
	}
	return syncData(file)
}

func total(times []time.Duration) (sum time.Duration) {
	for _, t := range times {
		sum += t
	}
	return sum
}

// percentile is the smallest of the sorted times that so many percent of them
// do not exceed.
func percentile(times []time.Duration, percent int) time.Duration {
	rank := (len(times)*percent + 99) / 100
	return times[max(rank, 1)-1]
}
