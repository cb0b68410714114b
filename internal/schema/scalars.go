package schema

import (
	"encoding/json"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"
)

func types(s *source) rule {
	want := texts(s.object["type"])
	if text, ok := s.object["type"].(string); ok {
		want = []string{text}
	}
	if want == nil {
		return nil
	}
	slices.Sort(want)
	message := strings.Join(want, " or ")
	return func(c *checker, value any, _ *seen) bool {
		got := typeOf(value)
		number, _ := value.(json.Number)
		return slices.Contains(want, got) || got == "number" && slices.Contains(want, "integer") && isInteger(number) ||
			c.fail("got %s, want %s", got, message)
	}
}

func typeOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}

func enum(s *source) rule {
	list, ok := s.object["enum"].([]any)
	if !ok {
		return nil
	}
	return oneOfValues("enum", list)
}

func constant(s *source) rule {
	value, ok := s.object["const"]
	if !ok {
		return nil
	}
	return oneOfValues("const", []any{value})
}

func oneOfValues(keyword string, list []any) rule {
	allowed, types, shown, simple := map[string]bool{}, map[string]bool{}, []string{}, true
	for _, value := range list {
		allowed[canonicalText(value)], types[typeOf(value)] = true, true
		shown = append(shown, display(value))
		switch value.(type) {
		case map[string]any, []any:
			simple = false
		}
	}
	message := "value must be one of " + strings.Join(shown, ", ")
	switch {
	case !simple:
		message = "'" + keyword + "' failed"
	case len(shown) == 1:
		message = "value must be " + shown[0]
	}
	message = short(message)
	return func(c *checker, value any, _ *seen) bool {
		if types[typeOf(value)] {
			text := canonicalText(value)
			if c.count(len(text) / 10); allowed[text] {
				return true
			}
		}
		return c.fail("%s", message)
	}
}

// bounds of numbers: whether one that compares so with the bound is allowed.
var bounds = map[string]func(cmp int) bool{
	"minimum":          func(cmp int) bool { return cmp >= 0 },
	"maximum":          func(cmp int) bool { return cmp <= 0 },
	"exclusiveMinimum": func(cmp int) bool { return cmp > 0 },
	"exclusiveMaximum": func(cmp int) bool { return cmp < 0 },
}

func numbers(s *source) rule {
	limits := map[string]*big.Rat{}
	for keyword := range bounds {
		if limit := rational(s.object[keyword]); limit != nil {
			limits[keyword] = limit
		}
	}
	step := rational(s.object["multipleOf"])
	if len(limits) == 0 && step == nil {
		return nil
	}
	return func(c *checker, value any, _ *seen) bool {
		number := rational(value)
		if number == nil {
			return true
		}
		ok := true
		for keyword, limit := range limits {
			if !bounds[keyword](number.Cmp(limit)) {
				ok = c.fail("%s: got %v, want %v", keyword, value, s.object[keyword])
			}
		}
		if step != nil && step.Sign() != 0 && !new(big.Rat).Quo(number, step).IsInt() {
			ok = c.fail("multipleOf: got %v, want %v", value, s.object["multipleOf"])
		}
		return ok
	}
}

// limit is the number of a keyword that counts something; ok: there is one.
func (s *source) limit(keyword string) (n int, ok bool) {
	number := rational(s.object[keyword])
	switch {
	case number == nil:
		return 0, false
	case !number.Num().IsInt64() || number.Num().Int64() > maxCounted:
		return maxCounted, true
	}
	return int(number.Num().Int64()), true
}

const maxCounted = 1 << 30 // nothing has as many

// within checks a number of things against minX and maxX.
func (s *source) within(what string) func(c *checker, n int) bool {
	least, hasLeast := s.limit("min" + what)
	most, hasMost := s.limit("max" + what)
	if !hasLeast && !hasMost {
		return nil
	}
	return func(c *checker, n int) bool {
		switch {
		case hasLeast && n < least:
			return c.fail("min%s: got %d, want %d", what, n, least)
		case hasMost && n > most:
			return c.fail("max%s: got %d, want %d", what, n, most)
		}
		return true
	}
}

func lengths(s *source) rule {
	within := s.within("Length")
	if within == nil {
		return nil
	}
	return func(c *checker, value any, _ *seen) bool {
		text, ok := value.(string)
		return !ok || within(c, utf8.RuneCountInString(text))
	}
}

func pattern(s *source) rule {
	text, ok := s.object["pattern"].(string)
	if !ok {
		return nil
	}
	compiled := s.pattern(text)
	return func(c *checker, value any, _ *seen) bool {
		got, ok := value.(string)
		c.count(len(got) / 6)
		return !ok || compiled.MatchString(got) || c.fail("%s does not match pattern %s", quotes{got}, quotes{text})
	}
}

func format(s *source) rule {
	name, _ := s.object["format"].(string)
	valid := formats[name]
	if valid == nil || !s.draft.formats {
		return nil
	}
	return func(c *checker, value any, _ *seen) bool {
		text, ok := value.(string)
		return !ok || valid(text) || c.fail("%s is not valid %s", quotes{text}, name)
	}
}

func sizes(s *source) rule {
	members, items := s.within("Properties"), s.within("Items")
	if members == nil && items == nil {
		return nil
	}
	return func(c *checker, value any, _ *seen) bool {
		switch v := value.(type) {
		case map[string]any:
			return members == nil || members(c, len(v))
		case []any:
			return items == nil || items(c, len(v))
		}
		return true
	}
}
