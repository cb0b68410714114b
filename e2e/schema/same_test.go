// Package schema_test holds internal/schema, which judges what operators register and what
// tests see, to a widely used library.
package schema_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"teamdata/e2e/kit/referee"
	"teamdata/internal/schema"
)

// generator makes up schemas and values, out of so few names and values that they
// often meet.
type generator struct {
	*rand.Rand
	old bool // draft-07
}

func (g *generator) pick(of ...string) string { return of[g.IntN(len(of))] }

func (g *generator) value(depth int) string {
	switch n := g.IntN(10); {
	case n == 0 && depth > 0:
		var items []string
		for range g.IntN(4) {
			items = append(items, g.value(depth-1))
		}
		return "[" + strings.Join(items, ",") + "]"
	case n < 5 && depth > 0:
		var members []string
		for _, name := range g.names() {
			members = append(members, fmt.Sprintf("%q:%s", name, g.value(depth-1)))
		}
		return "{" + strings.Join(members, ",") + "}"
	}
	return g.pick("null", "true", "false", "0", "1", "1.0", "-2", "2.5", "10e-1", `""`, `"a"`, `"ab"`, `"é😀"`, "[]", "{}", "[1,1.0]", "[[],{}]")
}

func (g *generator) names() (names []string) {
	for _, name := range []string{"a", "b", "ab", "c"} {
		if g.IntN(2) == 0 {
			names = append(names, name)
		}
	}
	return names
}

func (g *generator) listOfNames() string {
	text, _ := json.Marshal(append([]string{}, g.names()...))
	return string(text)
}

// schema makes up a schema of up to three keywords.
func (g *generator) schema(depth int) string {
	if depth == 0 || g.IntN(12) == 0 {
		return g.pick("true", "false", "{}", `{"type":"string"}`, `{"const":1}`, `{"type":"integer"}`)
	}
	members := map[string]string{}
	for range 1 + g.IntN(3) {
		keyword, value := g.keyword(depth - 1)
		if g.old && keyword == "$ref" { // the library does not ignore all that is beside it
			clear(members)
		} else if g.old && members["$ref"] != "" {
			continue
		}
		members[keyword] = value
	}
	var all []string
	for keyword, value := range members {
		all = append(all, fmt.Sprintf("%q:%s", keyword, value))
	}
	return "{" + strings.Join(all, ",") + "}"
}

func (g *generator) keyword(depth int) (name, value string) {
	one := func() string { return g.schema(depth) }
	list := func() string { return "[" + one() + "," + one() + "]" }
	named := func(names ...string) string {
		return fmt.Sprintf(`{%q:%s,%q:%s}`, names[0], one(), names[1], one())
	}
	count := func() string { return g.pick("0", "1", "2", "2.0") }
	keywords := []func() (string, string){
		func() (string, string) {
			return "type", g.pick(`"string"`, `"integer"`, `"number"`, `["object","null"]`, `"array"`, `"boolean"`)
		},
		func() (string, string) { return "enum", "[" + g.value(1) + `,"b"]` },
		func() (string, string) { return "const", g.value(2) },
		func() (string, string) {
			return g.pick("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), g.pick("0", "1", "1.5", "-2")
		},
		func() (string, string) { return "multipleOf", g.pick("1", "2", "0.5", "0.1") },
		func() (string, string) {
			return g.pick("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), count()
		},
		func() (string, string) { return "pattern", g.pick(`"^a"`, `"b$"`, `"^.$"`) },
		func() (string, string) { return "properties", named("a", "b") },
		func() (string, string) { return "patternProperties", named("^a", "b") },
		func() (string, string) {
			return g.pick("additionalProperties", "propertyNames", "not", "contains", "if", "then", "else", "items"), one()
		},
		func() (string, string) { return "required", g.listOfNames() },
		func() (string, string) { return "uniqueItems", g.pick("true", "true", "false") },
		func() (string, string) { return g.pick("allOf", "anyOf", "oneOf"), list() },
		func() (string, string) { return "$ref", g.pick(`"#"`, `"#/$defs/x"`, `"#/$defs/y"`) },
		func() (string, string) { return "dependencies", fmt.Sprintf(`{"a":%s,"b":%s}`, one(), g.listOfNames()) },
	}
	if g.old {
		keywords = append(keywords,
			func() (string, string) { return "items", list() },
			func() (string, string) { return "additionalItems", one() })
	} else {
		keywords = append(keywords,
			func() (string, string) { return "prefixItems", list() },
			func() (string, string) { return g.pick("minContains", "maxContains"), count() },
			func() (string, string) { return "dependentRequired", fmt.Sprintf(`{"a":%s}`, g.listOfNames()) },
			func() (string, string) { return "dependentSchemas", named("a", "c") },
			func() (string, string) { return g.pick("unevaluatedItems", "unevaluatedProperties"), one() })
	}
	return keywords[g.IntN(len(keywords))]()
}

func (g *generator) whole() string {
	draft := "https://json-schema.org/draft/2020-12/schema"
	if g.old {
		draft = "http://json-schema.org/draft-07/schema"
	}
	return fmt.Sprintf(`{"$schema":%q,"$defs":{"x":%s,"y":%s},"allOf":[%s]}`, draft, g.schema(2), g.schema(1), g.schema(3))
}

// A widely used library agrees about which values match, for schemas made up at
// random. It only can't be bounded, and takes long to start.
func TestSameAsLibrary(t *testing.T) {
	matched, compared := 0, 0
	for seed := range uint64(200) {
		g := &generator{rand.New(rand.NewPCG(seed, 0)), seed%2 == 0}
		text := g.whole()
		ours, err := schema.Compile([]byte(text))
		if err != nil {
			t.Fatalf("seed %d: %s: %v", seed, text, err)
		}
		theirs, err := referee.Compile([]byte(text))
		if err != nil {
			t.Fatalf("seed %d: %s: %v", seed, text, err)
		}
		for range 5 {
			value := g.value(3)
			err, other := ours.Check([]byte(value)), theirs([]byte(value))
			if tooLong(err) || other != nil && strings.Contains(other.Error(), "causing reference cycle") {
				continue // a reference that leads to itself
			}
			if compared++; err == nil {
				matched++
			}
			if (err == nil) != (other == nil) {
				t.Errorf("seed %d: %s of %s\nours   %v\ntheirs %v", seed, value, text, err, other)
			}
		}
	}
	if matched < compared/10 || matched > compared*9/10 {
		t.Errorf("%d of %d values match, so little is compared", matched, compared)
	}
}

func tooLong(err error) bool {
	return err != nil && strings.HasPrefix(err.Error(), "takes too many steps")
}

// Whatever the schema and the value are, the check ends.
func FuzzCheck(f *testing.F) {
	for seed := range uint64(20) {
		g := &generator{rand.New(rand.NewPCG(seed, 1)), seed%2 == 0}
		f.Add(g.whole(), g.value(3))
	}
	f.Add(`{"$id":"urn:a","$anchor":"b","$ref":"#b","$defs":{"c":{"$id":"d","$dynamicAnchor":"e"}},"not":{"$dynamicRef":"d#e"}}`, `[1]`)
	f.Fuzz(func(t *testing.T, text, value string) {
		s, err := schema.Compile([]byte(text))
		if err != nil {
			return
		}
		first := s.Check([]byte(value))
		if again := s.Check([]byte(value)); fmt.Sprint(first) != fmt.Sprint(again) {
			t.Errorf("first %v, then %v", first, again)
		}
	})
}
