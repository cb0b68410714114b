package bench

import (
	"context"
)

const (
	handlerMeaning = "a handler that does nothing, 64 connections"
	acceptMeaning  = "test events on the disk, 64 connections, none delivered meanwhile"
)

// testAnswerBytes is about the size of the answer to a test, head and body.
const testAnswerBytes = 272

// measureAccept measures accepting alone: no more than one delivery is under
// way.
func (s *session) measureAccept(ctx context.Context) error {
	floor, err := s.newBareAsker(ctx, testAnswerBytes, connections, likeATest())
	if err != nil {
		return err
	}
	defer floor.end()
	var ours turn
	if s.wants("accept") {
		a, err := s.prepareAccepting(ctx, "accept.db")
		if err != nil {
			return err
		}
		defer a.end()
		if err := a.start(ctx); err != nil {
			return err
		}
		if err := a.connect(ctx); err != nil {
			return err
		}
		ours = a.turn
	}
	rounds, err := s.inTurns(ctx, ours, floor.turn)
	if err != nil {
		return err
	}
	if s.wants("handler") {
		s.add(alone("handler", "requests/s", handlerMeaning, floors(rounds)...))
	}
	if s.wants("accept") {
		s.add(compared("accept", "answers/s", "handler", acceptMeaning, rounds))
	}
	return nil
}
