package server

import (
	"regexp/syntax"
	"strings"
)

// matching is a text made after the schema's pattern.
func (s schema) matching(d *draws, times repeats) string {
	parsed, err := syntax.Parse(s.Pattern, syntax.Perl)
	if err != nil {
		panic(err)
	}
	return matching(d, parsed, times)
}

// repeats is how often a part of a pattern is repeated.
type repeats func(d *draws, least, most int) int

// times is as often as it may be, up to 15 times more than it has to be.
func times(d *draws, least, most int) int { return least + d.below(min(most-least, 15)+1) }

// tooManyTimes is once more than it may be, where there is a bound.
func tooManyTimes(d *draws, least, most int) int {
	if most == unbounded {
		return least
	}
	return most + 1
}

const unbounded = 1 << 10

// matching is a text that a pattern matches, but for its repeats and as far as it
// has no condition beside its start and its end.
func matching(d *draws, p *syntax.Regexp, times repeats) string {
	switch p.Op {
	case syntax.OpLiteral:
		return string(p.Rune)
	case syntax.OpCharClass:
		at := 2 * d.below(len(p.Rune)/2)
		low, high := p.Rune[at], p.Rune[at+1]
		return string(low + rune(d.below(int(min(high-low, 1<<16-1))+1)))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return string(rune(' ' + d.below(1<<12)))
	case syntax.OpAlternate:
		return matching(d, pick(d, p.Sub...), times)
	}
	count := 1
	if least, most, repeated := bounds(p); repeated {
		count = times(d, least, most)
	}
	var b strings.Builder
	for range count {
		for _, sub := range p.Sub {
			b.WriteString(matching(d, sub, times))
		}
	}
	return b.String()
}

// bounds are those of how often a part of a pattern is repeated.
func bounds(p *syntax.Regexp) (least, most int, repeated bool) {
	switch p.Op {
	case syntax.OpStar:
		return 0, unbounded, true
	case syntax.OpPlus:
		return 1, unbounded, true
	case syntax.OpQuest:
		return 0, 1, true
	case syntax.OpRepeat:
		if p.Max < 0 {
			return p.Min, unbounded, true
		}
		return p.Min, p.Max, true
	}
	return 1, 1, false
}
