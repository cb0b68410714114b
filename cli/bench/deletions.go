package bench

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// deletedEach is how many deliveries are stored and deleted for each event of a round
// of deliver.
const deletedEach = 5

// measureDeletions measures accepting in a file that has held and deleted many
// deliveries, in turns with accepting in a fresh one.
func (s *session) measureDeletions(ctx context.Context) error {
	deleted := deletedEach * s.Events
	used, err := s.deployUsed(ctx, deleted)
	if err != nil {
		return err
	}
	fresh, err := s.deploy(ctx, "fresh", 1, true, 0)
	if err != nil {
		return err
	}
	_, server, err := s.load(ctx, used.target, connections, used.org.test(0))
	if err != nil {
		return err
	}
	_, baseline, err := s.load(ctx, fresh.target, connections, fresh.org.test(0))
	if err != nil {
		return err
	}
	rounds, err := s.inTurns(ctx, server, baseline)
	if err == nil {
		s.add(compared("after-deletions", "answers/s", "fresh file", fmt.Sprintf("as accept, after %d deliveries were stored and deleted", deleted), rounds))
	}
	return err
}

// deployUsed serves a data file in which n deliveries were held for an endpoint until
// the retention deleted them. It is as after a crash: the server was killed then.
func (s *session) deployUsed(ctx context.Context, n int) (*deployment, error) {
	d, err := s.deploy(ctx, "used", 1, true, 0, "--held-retention", "200ms")
	if err != nil {
		return nil, err
	}
	if err := d.connect(ctx); err != nil {
		return nil, err
	}
	s.step("storing")
	var begun atomic.Int64
	if _, _, err := d.closedLoop(ctx, time.Hour, func() bool { return begun.Add(1) <= int64(n) }, d.org.testInTurn); err != nil {
		return nil, err
	}
	endpoint := []string{d.org.endpointID(0), "--org", d.org.id(), "--data", d.data}
	if _, err := s.command(ctx, append([]string{"endpoint", "disable"}, endpoint...)...); err != nil {
		return nil, err
	}
	s.step("deleting")
	if err := s.awaitNoneHeld(ctx, endpoint); err != nil {
		return nil, err
	}
	if _, err := s.command(ctx, append([]string{"endpoint", "enable"}, endpoint...)...); err != nil {
		return nil, err
	}
	d.kill()
	d.server, err = s.serve(ctx, d.data, d.receiver.caFile)
	return d, err
}

// deletedTimeout is how long the retention may take.
const deletedTimeout = 5 * time.Minute

func (s *session) awaitNoneHeld(ctx context.Context, endpoint []string) error {
	list := append([]string{"delivery", "list", "--state", "held", "--limit", "1", "--quiet", "--endpoint"}, endpoint...)
	deadline := time.After(deletedTimeout)
	for {
		if held, err := s.command(ctx, list...); err != nil || len(held) == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-deadline:
			return errors.New("deliveries are still held after " + deletedTimeout.String())
		case <-time.After(100 * time.Millisecond):
		}
	}
}
