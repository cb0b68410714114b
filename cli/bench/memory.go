package bench

import "context"

const (
	idleMeaning   = "resident before the first request"
	loadedMeaning = "resident after as many events as in a round of deliver"
	peakMeaning   = "the most it ever was"
)

// measureMemory looks at the appliance before and after a load, beside a bare
// handler that answers as many requests.
func (s *session) measureMemory(ctx context.Context) error {
	if !memoryKnown {
		s.note("memory: this system does not tell a process's resident memory")
		return nil
	}
	ours, err := s.memoryOfOurs(ctx)
	if err != nil {
		return err
	}
	floor, err := s.memoryOfFloor(ctx)
	if err != nil {
		return err
	}
	for _, f := range []struct {
		name, meaning string
		round         Round
	}{
		{"memory.idle", idleMeaning, Round{ours.idle, floor.idle}},
		{"memory.loaded", loadedMeaning, Round{ours.loaded, floor.loaded}},
		{"memory.peak", peakMeaning, Round{ours.peak, floor.peak}},
	} {
		s.add(compared(f.name, "MiB", "handler", f.meaning, []Round{f.round}))
	}
	return nil
}

// footprint is resident memory in MiB.
type footprint struct{ idle, loaded, peak float64 }

func (s *session) memoryOfOurs(ctx context.Context) (f footprint, err error) {
	s.step("the appliance")
	d, err := s.prepareDelivering(ctx, "memory.db", deliveryEndpoints)
	if err != nil {
		return f, err
	}
	defer d.end()
	if f.idle, _, err = residentMemory(d.appliance.pid()); err != nil {
		return f, err
	}
	if err := d.connect(ctx); err != nil {
		return f, err
	}
	if _, err := d.deliver(ctx, s.Events); err != nil {
		return f, err
	}
	f.loaded, f.peak, err = residentMemory(d.appliance.pid())
	return f, err
}

func (s *session) memoryOfFloor(ctx context.Context) (f footprint, err error) {
	s.step("the bare handler")
	p, handler, err := s.serveBare(ctx, testAnswerBytes)
	if err != nil {
		return f, err
	}
	defer p.kill()
	if f.idle, _, err = residentMemory(p.pid()); err != nil {
		return f, err
	}
	c, err := dialCrowd(ctx, handler, connections)
	if err != nil {
		return f, err
	}
	defer c.close()
	if _, err := c.ask(ctx, s.Events, always(likeATest())); err != nil {
		return f, err
	}
	f.loaded, f.peak, err = residentMemory(p.pid())
	return f, err
}
