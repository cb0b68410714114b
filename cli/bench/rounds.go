package bench

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// turn measures something once.
type turn func(context.Context) (float64, error)

// inTurns measures ours and its floor round by round, so that what else the
// machine does falls on both. A nil turn is left out.
func (s *session) inTurns(ctx context.Context, ours, floor turn) ([]Round, error) {
	rounds := make([]Round, s.Rounds)
	for i := range rounds {
		s.step("round %d of %d", i+1, s.Rounds)
		for _, t := range []struct {
			turn  turn
			value *float64
		}{{floor, &rounds[i].Floor}, {ours, &rounds[i].Value}} {
			if t.turn == nil {
				continue
			}
			value, err := t.turn(ctx)
			if err != nil {
				return nil, err
			}
			*t.value = value
		}
	}
	return rounds, nil
}

// compared makes a figure of rounds: that of the round whose ratio is the
// middle one, so that value, floor and ratio belong together.
func compared(name, unit, floorOf, meaning string, rounds []Round) Figure {
	middle := slices.Clone(rounds)
	slices.SortFunc(middle, func(a, b Round) int { return cmp.Compare(a.ratio(), b.ratio()) })
	m := middle[len(middle)/2]
	f := Figure{Name: name, Unit: unit, Value: m.Value, FloorOf: floorOf, Meaning: meaning, Rounds: rounds}
	if m.Floor > 0 {
		ratio := m.ratio()
		f.Floor, f.Ratio = &m.Floor, &ratio
	}
	return f
}

// alone makes a figure of values that have no floor.
func alone(name, unit, meaning string, values ...float64) Figure {
	f := Figure{Name: name, Unit: unit, Meaning: meaning, Rounds: []Round{}}
	for _, v := range values {
		f.Rounds = append(f.Rounds, Round{Value: v})
	}
	f.Value = middle(values)
	return f
}

// spread is the largest by the smallest of what the machine itself did, round
// by round: of the floors, or of the values where there are none. It is 1 where
// nothing can be told.
func (f *Figure) spread() float64 {
	least, most := math.Inf(1), 0.0
	for _, r := range f.Rounds {
		v := r.Value
		if f.Floor != nil {
			v = r.Floor
		}
		least, most = min(least, v), max(most, v)
	}
	if len(f.Rounds) < 2 || least <= 0 {
		return 1
	}
	return most / least
}

// floors are the floors of rounds, as values of their own.
func floors(rounds []Round) (values []float64) {
	for _, r := range rounds {
		values = append(values, r.Floor)
	}
	return values
}

func middle(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
