package schema

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// checker is one check of a value.
type checker struct {
	tracks bool // what is evaluated of objects and lists matters
	steps  int
	depth  int         // of parts that are being applied
	quiet  int         // above 0: only whether it fits matters, and not why
	place  []step      // in the value
	scope  []*resource // of the parts that are being applied
	first  *fault
}

// fault is where a value does not match, and why.
type fault struct {
	place   []step
	message string
}

// step is one on the way to a place: the name of a field, or an index of a list.
type step struct {
	name   string
	inList bool
	index  int
}

func itemStep(i int) step { return step{inList: true, index: i} }

func (s step) compare(with step) int {
	return cmp.Or(cmp.Compare(s.name, with.name), cmp.Compare(s.index, with.index))
}

// fail records a fault. Of several the first by its place is kept.
func (c *checker) fail(format string, args ...any) bool {
	if c.quiet > 0 || c.first != nil && slices.CompareFunc(c.place, c.first.place, step.compare) > 0 {
		return false
	}
	f := &fault{slices.Clone(c.place), fmt.Sprintf(format, args...)}
	if c.first == nil || cmp.Or(slices.CompareFunc(f.place, c.first.place, step.compare), cmp.Compare(f.message, c.first.message)) < 0 {
		c.first = f
	}
	return false
}

// count counts work other than applying a part, such as looking at members: ten of
// them are a step.
func (c *checker) count(n int) {
	if c.steps += n / 10; c.steps > maxSteps {
		panic(errTooLong)
	}
}

// apply checks a value against a part. If it fits, the evaluated members are added
// to seen, which may be nil.
func (c *checker) apply(p *part, value any, up *seen) bool {
	c.steps++
	if text, ok := value.(string); ok {
		c.steps += len(text) >> 10
	}
	if c.steps > maxSteps || c.depth > maxApplied {
		panic(errTooLong)
	}
	c.depth++
	c.scope = append(c.scope, p.resource)
	var own *seen
	if c.tracks {
		own = &seen{}
	}
	ok := c.run(p.rules, value, own) && c.run(p.last, value, own)
	c.scope = c.scope[:len(c.scope)-1]
	c.depth--
	if ok {
		c.add(own, up)
	}
	return ok
}

func (c *checker) run(rules []rule, value any, own *seen) bool {
	ok := true
	for _, r := range rules {
		if !r(c, value, own) {
			if ok = false; c.quiet > 0 {
				break
			}
		}
	}
	return ok
}

// fits applies a part whose faults are not the value's.
func (c *checker) fits(p *part, value any, up *seen) bool {
	c.quiet++
	ok := c.apply(p, value, up)
	c.quiet--
	return ok
}

// applyAt applies a part to what is at a step from here.
func (c *checker) applyAt(s step, p *part, value any) bool {
	c.place = append(c.place, s)
	ok := c.apply(p, value, nil)
	c.place = c.place[:len(c.place)-1]
	return ok
}

// seen is what was evaluated of an object or a list: the steps to its members or items. Its
// methods may be called on nil, which keeps nothing.
type seen struct{ steps map[step]bool }

func (s *seen) mark(at step) {
	if s != nil {
		if s.steps == nil {
			s.steps = map[step]bool{}
		}
		s.steps[at] = true
	}
}

// add adds what a part has evaluated to what the part around it has.
func (c *checker) add(part, around *seen) {
	switch {
	case part == nil || around == nil:
	case around.steps == nil:
		around.steps = part.steps
	default:
		c.count(len(part.steps))
		maps.Copy(around.steps, part.steps)
	}
}
