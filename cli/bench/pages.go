package bench

import "context"

const pagesMeaning = "100 members each, 32 connections"

// measurePages asks for the first page of a long list.
func (s *session) measurePages(ctx context.Context) error {
	receivers, err := newReceiver(s.path("pages.ca"))
	if err != nil {
		return err
	}
	defer receivers.close()
	w, err := newWorld(ctx, s.path("pages.db"), []tenant{{members: s.Members}})
	if err != nil {
		return err
	}
	a, err := s.serve(ctx, w.data, receivers.caFile)
	if err != nil {
		return err
	}
	defer a.kill()
	request := requestOf("GET", "/members?limit=100", w.orgs[0].key)
	ours, err := s.newAsker(ctx, a.server, pageConnections, always(request))
	if err != nil {
		return err
	}
	defer ours.close()
	floor, err := s.newBareAsker(ctx, ours.crowd[0].length, pageConnections, request)
	if err != nil {
		return err
	}
	defer floor.end()
	rounds, err := s.inTurns(ctx, ours.turn, floor.turn)
	if err != nil {
		return err
	}
	s.add(compared("pages", "pages/s", "same-size handler", pagesMeaning, rounds))
	return nil
}
