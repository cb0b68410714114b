package schema

// items is for the items of a list: the first have a part each, and the rest one.
func items(s *source) rule {
	start, end := "prefixItems", "items"
	if _, isList := s.object["items"].([]any); s.draft.old && isList {
		start, end = "items", "additionalItems"
	}
	first, rest := s.list(start), s.one(end)
	if first == nil && rest == nil {
		return nil
	}
	return func(c *checker, value any, seen *seen) bool {
		list, _ := value.([]any)
		ok := true
		for i, item := range list {
			p, at := rest, itemStep(i)
			if i < len(first) {
				p = first[i]
			} else if rest == nil {
				break
			}
			if ok = c.applyAt(at, p, item) && ok; !ok && c.quiet > 0 {
				return false
			}
			seen.mark(at)
		}
		return ok
	}
}

func contains(s *source) rule {
	p := s.one("contains")
	if p == nil {
		return nil
	}
	least, most := 1, maxCounted
	if !s.draft.old {
		if n, ok := s.limit("minContains"); ok {
			least = n
		}
		if n, ok := s.limit("maxContains"); ok {
			most = n
		}
	}
	return func(c *checker, value any, seen *seen) bool {
		list, ok := value.([]any)
		if !ok {
			return true
		}
		n := 0
		for i, item := range list {
			if c.fits(p, item, nil) {
				seen.mark(itemStep(i))
				n++
			}
		}
		switch {
		case n == 0 && least == 1:
			return c.fail("no items match contains schema")
		case n < least:
			return c.fail("min %d items required to match contains schema, but %d matched", least, n)
		case n > most:
			return c.fail("max %d items required to match contains schema, but %d matched", most, n)
		}
		return true
	}
}

func unique(s *source) rule {
	if s.object["uniqueItems"] != true {
		return nil
	}
	return func(c *checker, value any, _ *seen) bool {
		list, _ := value.([]any)
		c.count(len(list))
		first := make(map[string]int, len(list))
		for i, item := range list {
			text := canonicalText(item)
			c.count(len(text) / 10)
			if k, again := first[text]; again {
				return c.fail("items at %d and %d are equal", k, i)
			}
			first[text] = i
		}
		return true
	}
}

func unevaluatedItems(s *source) rule {
	p := s.one("unevaluatedItems")
	if p == nil || s.draft.old {
		return nil
	}
	return func(c *checker, value any, seen *seen) bool {
		list, _ := value.([]any)
		c.count(len(list))
		ok := true
		for i, item := range list {
			if at := itemStep(i); !seen.steps[at] {
				ok = c.applyAt(at, p, item) && ok
				seen.mark(at)
			}
		}
		return ok
	}
}
