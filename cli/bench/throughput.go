package bench

import "context"

// testAnswerBytes is about the size of the answer to a test, head and body.
const testAnswerBytes = 272

// measureAccept measures accepting alone: no more than one delivery is under
// way.
func (s *session) measureAccept(ctx context.Context) error {
	_, baseline, err := s.loadHandler(ctx, testAnswerBytes, connections, newOrg(0, 0).test(0))
	if err != nil {
		return err
	}
	var server turn
	if s.wants("accept") {
		d, err := s.deploy(ctx, "accept", 1, true, 0)
		if err != nil {
			return err
		}
		if _, server, err = s.load(ctx, d.target, connections, d.org.test(0)); err != nil {
			return err
		}
	}
	rounds, err := s.inTurns(ctx, server, baseline)
	if err != nil {
		return err
	}
	s.add(alone("handler", "requests/s", "a handler that does nothing, 64 connections", baselines(rounds)...))
	s.add(compared("accept", "answers/s", "handler", "test events on the disk, 64 connections, none delivered meanwhile", rounds))
	return nil
}

// deliveryEndpoints are how many endpoints the events are spread over.
const deliveryEndpoints = 8

// measureDeliver lets events through from the request to the recorded outcome.
func (s *session) measureDeliver(ctx context.Context) error {
	baseline, err := s.startPosting(ctx)
	if err != nil {
		return err
	}
	var d *deployment
	var server turn
	if s.wants("deliver") {
		if d, err = s.deployWarm(ctx, "deliver"); err != nil {
			return err
		}
		server = func(ctx context.Context) (float64, error) { return d.turn(ctx, s.Events) }
	}
	rounds, err := s.inTurns(ctx, server, baseline.turn)
	if err != nil {
		return err
	}
	s.add(alone("client", "posts/s", "a client that signs and posts, 64 at a time", baselines(rounds)...))
	if d == nil {
		return nil
	}
	s.add(compared("deliver", "events/s", "client", "accepted, delivered and recorded, first request to last receipt", rounds))
	s.add(alone("deliver.accept", "answers/s", "accepted on 64 connections while they are delivered", d.accepted...))
	return s.settle(ctx, d, baseline)
}

// settle ends both, and checks what is left: nothing may wait in the file.
func (s *session) settle(ctx context.Context, d *deployment, baseline *posting) error {
	d.clients.close()
	cpu, err := d.stop()
	if err != nil {
		return err
	}
	if err := s.checkNoneWaits(ctx, d.data); err != nil {
		return err
	}
	baselineCPU, err := baseline.end()
	if err != nil {
		return err
	}
	each := Round{float64(cpu.Microseconds()) / float64(d.events), float64(baselineCPU.Microseconds()) / float64(baseline.posts)}
	if each.Value > 0 {
		s.add(compared("deliver.cpu", "µs/event", "client", "processor time of the server; of the client for a post", []Round{each}))
	}
	s.add(alone("deliver.duplicates", "webhooks", "webhooks that came more than once", float64(d.receiver.duplicates)))
	return nil
}

// measurePages requests the first page of a long list.
func (s *session) measurePages(ctx context.Context) error {
	d, err := s.deploy(ctx, "pages", 0, false, s.Members)
	if err != nil {
		return err
	}
	request := requestOf("GET", "/members?limit=100", d.org.key())
	clients, server, err := s.load(ctx, d.target, pageConnections, request)
	if err != nil {
		return err
	}
	_, baseline, err := s.loadHandler(ctx, clients[0].length, pageConnections, request)
	if err != nil {
		return err
	}
	rounds, err := s.inTurns(ctx, server, baseline)
	if err == nil {
		s.add(compared("pages", "pages/s", "same-size handler", "100 members each, 32 connections", rounds))
	}
	return err
}
