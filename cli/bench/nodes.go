package bench

import (
	"context"
	"fmt"
	"time"

	"teamdata/store"
)

// measureNodes measures how many requests some nodes accept together. In each round it
// is one node's turn, then that of two and of four, all with the same callers. One that
// has no turn is not there, since nodes look at one another.
func measureNodes(away time.Duration) func(*session, context.Context) error {
	return func(s *session, ctx context.Context) error {
		d, e, _, err := s.newDatabase(ctx, away, benchOrgs, 1)
		if err != nil {
			return err
		}
		if err := e.Close(); err != nil {
			return err
		}
		name, distance := "nodes", ""
		if away > 0 {
			name, distance = "nodes-away", ", the database 1 ms away"
		}
		if err := s.measureSum(ctx, d, name, benchOrgs, "64 callers in 64 orgs"+distance); err != nil {
			return err
		}
		return s.measureSum(ctx, d, name+"-hot", 1, "64 callers in one org"+distance)
	}
}

func (s *session) measureSum(ctx context.Context, d Database, name string, orgs int, meaning string) error {
	if !s.wants(name) {
		return nil
	}
	two, four := make([]Round, s.Rounds), make([]Round, s.Rounds)
	for i := range s.Rounds {
		s.round(i)
		var sums [3]float64
		for k, nodes := range []int{1, 2, 4} {
			sum, err := s.acceptOn(ctx, d, nodes, orgs)
			if err != nil {
				return err
			}
			sums[k] = sum
		}
		two[i], four[i] = Round{sums[1], sums[0]}, Round{sums[2], sums[0]}
	}
	s.add(compared(name+".2", "answers/s", "one node", meaning+", two nodes together", two))
	s.add(compared(name+".4", "answers/s", "one node", meaning+", four nodes together", four))
	return nil
}

// acceptOn is a turn of so many nodes.
func (s *session) acceptOn(ctx context.Context, d Database, nodes, orgs int) (perSecond float64, err error) {
	var engines []store.Engine
	defer func() {
		for _, e := range engines {
			e.Close()
		}
	}()
	for i := range nodes {
		e, err := d.Open(ctx, fmt.Sprint("bench-", i))
		if err != nil {
			return 0, err
		}
		engines = append(engines, e)
	}
	if err := shared(ctx, engines); err != nil {
		return 0, err
	}
	return s.accepting(orgs, engines...)(ctx)
}

// shared waits until nodes have shared the endpoints out among them.
func shared(ctx context.Context, engines []store.Engine) error {
	for again := time.NewTicker(10 * time.Millisecond); ; {
		nodes, err := engines[0].Nodes(ctx)
		if err != nil {
			return err
		}
		sum, with := 0, 0
		for _, n := range nodes {
			if sum += n.Shards; n.Shards > 0 {
				with++
			}
		}
		if sum == store.Shards && with == len(engines) {
			return nil
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
