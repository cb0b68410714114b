package schema

import (
	"regexp"
	"slices"
)

// namePattern is for the members whose names match it.
type namePattern struct {
	*regexp.Regexp
	*part
}

func properties(s *source) rule {
	named, rest := s.named("properties"), s.one("additionalProperties")
	var patterns []namePattern
	for text, p := range s.named("patternProperties") {
		patterns = append(patterns, namePattern{s.pattern(text), p})
	}
	if named == nil && patterns == nil && rest == nil {
		return nil
	}
	return func(c *checker, value any, seen *seen) bool {
		object, ok := value.(map[string]any)
		if !ok {
			return true
		}
		c.count(len(object) * (1 + len(patterns)))
		var extra []string
		for name, inner := range object {
			p, known := named[name]
			if known {
				ok = c.applyAt(step{name: name}, p, inner) && ok
			}
			for _, pattern := range patterns {
				if pattern.MatchString(name) {
					known = true
					ok = c.applyAt(step{name: name}, pattern.part, inner) && ok
				}
			}
			switch {
			case !known && rest == nil:
				continue
			case !known && rest.never:
				extra = append(extra, name)
			case !known:
				ok = c.applyAt(step{name: name}, rest, inner) && ok
			}
			if seen.mark(step{name: name}); !ok && c.quiet > 0 {
				return false
			}
		}
		return c.allows(extra) && ok
	}
}

// allows fails if there are members that may not be there.
func (c *checker) allows(extra []string) bool {
	slices.Sort(extra)
	return extra == nil || c.fail("additional properties %s not allowed", quotes(extra))
}

func propertyNames(s *source) rule {
	p := s.one("propertyNames")
	if p == nil {
		return nil
	}
	return func(c *checker, value any, _ *seen) bool {
		object, _ := value.(map[string]any)
		ok := true
		for name := range object {
			ok = (c.fits(p, name, nil) || c.fail("invalid propertyName %s", quotes{name})) && ok
		}
		return ok
	}
}

func required(s *source) rule {
	names := texts(s.object["required"])
	if names == nil {
		return nil
	}
	return func(c *checker, value any, _ *seen) bool {
		object, ok := value.(map[string]any)
		if !ok {
			return true
		}
		c.count(len(names))
		switch missing := missingIn(object, names); len(missing) {
		case 0:
			return true
		case 1:
			return c.fail("missing property %s", quotes(missing))
		default:
			return c.fail("missing properties %s", quotes(missing))
		}
	}
}

// dependency is what an object must fulfil if it has a member.
type dependency struct {
	name   string
	part   *part // nil: only the names below
	needed []string
}

func dependent(s *source) rule {
	var all []dependency
	for _, keyword := range []string{"dependencies", "dependentRequired", "dependentSchemas"} {
		if keyword != "dependencies" && s.draft.old {
			break
		}
		for name, p := range s.named(keyword) {
			all = append(all, dependency{name: name, part: p})
		}
		lists, _ := s.object[keyword].(map[string]any)
		for name, list := range lists {
			if needed := texts(list); needed != nil {
				all = append(all, dependency{name: name, needed: needed})
			}
		}
	}
	if all == nil {
		return nil
	}
	return func(c *checker, value any, seen *seen) bool {
		object, ok := value.(map[string]any)
		if !ok {
			return true
		}
		c.count(len(all))
		for _, d := range all {
			if _, has := object[d.name]; !has {
				continue
			}
			if d.part != nil {
				ok = c.apply(d.part, value, seen) && ok
			} else if missing := missingIn(object, d.needed); missing != nil {
				ok = c.fail("properties %s required, if %s exists", quotes(missing), quotes{d.name})
			}
		}
		return ok
	}
}

func missingIn(object map[string]any, names []string) (missing []string) {
	for _, name := range names {
		if _, has := object[name]; !has {
			missing = append(missing, name)
		}
	}
	return missing
}

func unevaluatedProperties(s *source) rule {
	p := s.one("unevaluatedProperties")
	if p == nil || s.draft.old {
		return nil
	}
	return func(c *checker, value any, seen *seen) bool {
		object, _ := value.(map[string]any)
		c.count(len(object))
		ok := true
		var extra []string
		for name, inner := range object {
			switch {
			case seen.steps[step{name: name}]:
				continue
			case p.never:
				extra = append(extra, name)
			default:
				ok = c.applyAt(step{name: name}, p, inner) && ok
			}
			seen.mark(step{name: name})
		}
		return c.allows(extra) && ok
	}
}
