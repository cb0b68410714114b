package bench

import (
	"context"
	"time"
)

const (
	clientMeaning     = "a client that signs and posts, 64 at a time"
	deliverMeaning    = "accepted, delivered and recorded, first request to last receipt"
	acceptingMeaning  = "accepted on 64 connections while they are delivered"
	cpuMeaning        = "processor time of the appliance; of the client for a post"
	duplicatesMeaning = "webhooks that came more than once"
)

// deliveryEndpoints are how many endpoints the events are spread over.
const deliveryEndpoints = 8

// measureDeliver lets events through from the request to the recorded outcome.
func (s *session) measureDeliver(ctx context.Context) error {
	floor, err := s.startPosting(ctx)
	if err != nil {
		return err
	}
	defer floor.end()
	var ours *delivering
	var turnOfOurs turn
	if s.wants("deliver") {
		if ours, err = s.startDelivering(ctx, "deliver.db", deliveryEndpoints); err != nil {
			return err
		}
		defer ours.end()
		turnOfOurs = func(ctx context.Context) (float64, error) { return ours.turn(ctx, s.Events) }
	}
	rounds, err := s.inTurns(ctx, turnOfOurs, floor.turn)
	if err != nil {
		return err
	}
	if s.wants("client") {
		s.add(alone("client", "posts/s", clientMeaning, floors(rounds)...))
	}
	if ours == nil {
		return nil
	}
	s.add(compared("deliver", "events/s", "client", deliverMeaning, rounds))
	s.add(alone("deliver.accept", "answers/s", acceptingMeaning, ours.accepted...))
	return s.settle(ctx, ours, floor)
}

// settle ends both, and looks at what is left: nothing may wait in the file.
func (s *session) settle(ctx context.Context, ours *delivering, floor *posting) error {
	cpu, err := ours.finish(ctx)
	if err != nil {
		return err
	}
	floorCPU, err := floor.process.end()
	if err != nil {
		return err
	}
	each := Round{micros(cpu) / float64(ours.events), micros(floorCPU) / float64(floor.posts)}
	if each.Value > 0 {
		s.add(compared("deliver.cpu", "µs/event", "client", cpuMeaning, []Round{each}))
	}
	s.add(alone("deliver.duplicates", "webhooks", duplicatesMeaning, float64(ours.receiver.duplicates)))
	return nil
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
