package schema

// rules make a part's rules, each out of the keywords that it looks for. The first is
// $ref. lastRules come after all others have been kept.
var rules, lastRules []func(*source) rule

func init() { // not above: the makers lead to the compiler, and that to the rules
	rules = []func(*source) rule{
		reference, dynamicReference, allOf, anyOf, oneOf, not, conditional, dependent,
		types, enum, constant, numbers, lengths, pattern, format,
		properties, propertyNames, required, sizes, items, contains, unique,
	}
	lastRules = []func(*source) rule{unevaluatedItems, unevaluatedProperties}
}

func reference(s *source) rule {
	to, _, ok := s.referred("$ref")
	if !ok {
		return nil
	}
	return func(c *checker, value any, seen *seen) bool { return c.apply(to, value, seen) }
}

// dynamicReference leads to the anchor of that name in the outermost resource that has it.
func dynamicReference(s *source) rule {
	to, name, ok := s.referred("$dynamicRef")
	if !ok || s.draft.old {
		return nil
	}
	return func(c *checker, value any, seen *seen) bool {
		target := to
		for _, r := range c.scope {
			if p := r.dynamic[name]; p != nil {
				target = p
				break
			}
		}
		return c.apply(target, value, seen)
	}
}

func (s *source) referred(keyword string) (to *part, dynamic string, ok bool) {
	text, ok := s.object[keyword].(string)
	if !ok {
		return nil, "", false
	}
	to, dynamic, err := s.refer(s.resource, text)
	if err != nil && s.err == nil {
		s.err = err
	}
	return to, dynamic, err == nil
}

func allOf(s *source) rule {
	parts := s.list("allOf")
	if parts == nil {
		return nil
	}
	return func(c *checker, value any, seen *seen) bool {
		ok := true
		for _, p := range parts {
			if ok = c.apply(p, value, seen) && ok; !ok && c.quiet > 0 {
				return false
			}
		}
		return ok
	}
}

func anyOf(s *source) rule {
	parts := s.list("anyOf")
	if parts == nil {
		return nil
	}
	return func(c *checker, value any, seen *seen) bool {
		fits := false
		for _, p := range parts {
			if fits = c.fits(p, value, seen) || fits; fits && seen == nil {
				return true
			}
		}
		return fits || c.fail("'anyOf' failed")
	}
}

func oneOf(s *source) rule {
	parts := s.list("oneOf")
	if parts == nil {
		return nil
	}
	return func(c *checker, value any, seen *seen) bool {
		fit := -1
		for i, p := range parts {
			if !c.fits(p, value, seen) {
				continue
			}
			if fit >= 0 {
				return c.fail("'oneOf' failed, subschemas %d, %d matched", fit, i)
			}
			fit = i
		}
		return fit >= 0 || c.fail("'oneOf' failed, none matched")
	}
}

func not(s *source) rule {
	p := s.one("not")
	if p == nil {
		return nil
	}
	return func(c *checker, value any, _ *seen) bool { return !c.fits(p, value, nil) || c.fail("'not' failed") }
}

func conditional(s *source) rule {
	condition, then, otherwise := s.one("if"), s.one("then"), s.one("else")
	if condition == nil {
		return nil
	}
	return func(c *checker, value any, seen *seen) bool {
		next := otherwise
		if c.fits(condition, value, seen) {
			next = then
		}
		return next == nil || c.apply(next, value, seen)
	}
}
