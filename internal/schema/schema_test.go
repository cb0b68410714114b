package schema

import (
	"fmt"
	"strings"
	"testing"
)

func check(t *testing.T, schema, value string) string {
	t.Helper()
	s, err := Compile([]byte(schema))
	if err != nil {
		t.Fatalf("%.200s: %v", schema, err)
	}
	return fmt.Sprint(s.Check([]byte(value)))
}

func TestCheck(t *testing.T) {
	for _, row := range []struct{ schema, value, want string }{
		{`{}`, `{"a":1}`, "<nil>"},
		{`true`, `7`, "<nil>"},
		{`false`, `7`, "false schema"},
		{`{"type":"object","required":["a"]}`, `{}`, "missing property 'a'"},
		{`{"properties":{"amount":{"type":"number"}}}`, `{"amount":"x"}`, "amount: got string, want number"},
		{`{"properties":{"lines":{"items":{"properties":{"price":{"minimum":1}}}}}}`, `{"lines":[{"price":1},{"price":0}]}`, "lines[1].price: minimum: got 0, want 1"},
		{`{"properties":{"7":{"items":{"properties":{"0":{"minimum":1}}}}}}`, `{"7":[{"0":1},{"0":0}]}`, `"7"[1]."0": minimum: got 0, want 1`},
		{`{"additionalProperties":false}`, `{"b":1}`, "additional properties 'b' not allowed"},
		{`{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`, `{"a":1}`, "a: 'anyOf' failed"},
		{`{"properties":{"a":{"type":"string"},"b":{"type":"string"}}}`, `{"b":1,"a":1}`, "a: got number, want string"},
		{`{"$ref":"#/$defs/x","$defs":{"x":{"type":"string"}}}`, `1`, "got number, want string"},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"at":{"format":"date-time"}}}`, `{"at":"now"}`, "at: 'now' is not valid date-time"},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"at":{"format":"date-time"}}}`, `{"at":"2026-01-02T03:04:05+23:59"}`, "<nil>"},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"at":{"format":"date-time"}}}`, `{"at":"2026-01-02T03:04:05+24:00"}`, "at: '2026-01-02T03:04:05+24:00' is not valid date-time"},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"at":{"format":"time"}}}`, `{"at":"3:04:05,5Z"}`, "at: '3:04:05,5Z' is not valid time"},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"x":{"type":"string"}},"$ref":"#/definitions/x"}`, `1`, "got number, want string"},
		{`{"$ref":"https://json-schema.org/draft/2020-12/schema"}`, `{"type":"odd"}`, "type: 'anyOf' failed"},
	} {
		if got := check(t, row.schema, row.value); got != row.want {
			t.Errorf("%s of %s\ngot  %s\nwant %s", row.value, row.schema, got, row.want)
		}
	}
}

func TestBadSchemas(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"odd"}`:                           "type: 'anyOf' failed",
		`{"type":`:                                 "is not JSON: unexpected EOF",
		`7`:                                        "got number, want boolean or object",
		`{"properties":{"a":{"minimum":"x"}}}`:     "properties.a.minimum: got string, want number",
		`{"pattern":"("}`:                          "",
		`{"pattern":"(?=a)"}`:                      "",
		`{"$ref":"https://example.com/schema"}`:    "nothing is fetched from elsewhere; put the schema under $defs",
		`{"$ref":"file:///etc/passwd"}`:            "nothing is fetched",
		`{"$ref":"/etc/passwd"}`:                   "nothing is fetched",
		`{"$schema":"https://example.com/schema"}`: "nothing is fetched from elsewhere; put the schema under $defs",
		`{"$ref":"#/$defs/none"}`:                  "",
		`{"maximum":1e999999999}`:                  "exponent of more than three digits",
		strings.Repeat(`{"not":`, 65) + `{}` + strings.Repeat(`}`, 65): "depth of more than 64",
		`{"title":"` + strings.Repeat("x", maxBytes) + `"}`:            "has more than 65536 bytes",
	} {
		_, err := Compile([]byte(schema))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.200s: got %v, want %s", schema, err, want)
		}
	}
}

// chain is a schema whose parts apply the next one twice each, in some way: the
// value is held to the last of them 2^n times.
func chain(n int, twice, last string) string {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/s0","$defs":{`)
	for i := range n {
		next := fmt.Sprintf(`{"$ref":"#/$defs/s%d"}`, i+1)
		fmt.Fprintf(&b, `"s%d":%s,`, i, strings.ReplaceAll(twice, "NEXT", next))
	}
	fmt.Fprintf(&b, `"s%d":%s}}`, n, last)
	return b.String()
}

func TestStepsAreBounded(t *testing.T) {
	for name, schema := range map[string]string{
		"all":        chain(60, `{"allOf":[NEXT,NEXT]}`, `{"type":"object"}`),
		"any":        chain(60, `{"anyOf":[NEXT,NEXT]}`, `{"minProperties":9}`),
		"any not":    `{"not":{"allOf":[{"$ref":"#/$defs/s0"}]},` + strings.TrimPrefix(chain(60, `{"anyOf":[NEXT,NEXT]}`, `false`), `{"$ref":"#/$defs/s0",`),
		"in the old": `{"$schema":"http://json-schema.org/draft-07/schema#",` + chain(60, `{"allOf":[NEXT,NEXT]}`, `{"type":"object"}`)[1:],
		"down":       `{"allOf":[{"additionalProperties":{"$ref":"#"}},{"additionalProperties":{"$ref":"#"}}]}`,
	} {
		value := strings.Repeat(`{"a":`, 60) + `{}` + strings.Repeat(`}`, 60)
		s, err := Compile([]byte(schema))
		if err != nil {
			t.Fatal(name, err)
		}
		if err := s.Check([]byte(value)); err != errTooLong {
			t.Errorf("%s: %v", name, err)
		}
		if err := s.Check([]byte(`{}`)); name == "down" && err != nil {
			t.Errorf("%s: the next check: %v", name, err)
		}
	}
}

// Patterns take linear time, but a text may be long, and patterns many.
func TestPatternsAreSteps(t *testing.T) {
	schema := `{"allOf":[` + strings.Repeat(`{"pattern":"(x+x+)+y|x"},`, 1000) + `true]}`
	if got := check(t, schema, `"`+strings.Repeat("x", 100_000)+`"`); got != errTooLong.Error() {
		t.Errorf("%.300s", got)
	}
	if got := check(t, schema, `"x"`); got != "<nil>" {
		t.Errorf("%.300s", got)
	}
}

func TestLargeValuesPass(t *testing.T) {
	value := `{"list":[` + strings.Repeat("1,", 30_000) + `1]}`
	if got := check(t, `{"properties":{"list":{"items":{"type":"integer"}}}}`, value); got != "<nil>" {
		t.Error(got)
	}
}

func BenchmarkCompileLargest(b *testing.B) {
	text := []byte(`{"allOf":[` + strings.Repeat(`{},`, (maxBytes-20)/3) + `{}]}`)
	for b.Loop() {
		if _, err := Compile(text); err != nil {
			b.Fatal(err)
		}
	}
}

func TestCache(t *testing.T) {
	var c Cache
	first, err := c.Compile([]byte(`{"type":"object"}`))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := c.Compile([]byte(`{"type":"object"}`)); again != first || err != nil {
		t.Error("it was compiled again")
	}
	if _, err := c.Compile([]byte(`{`)); err == nil || len(c.compiled) != 1 {
		t.Error("what can't be compiled was kept")
	}
	for i := range 100 {
		text := fmt.Sprintf(`{"title":"%d %s"}`, i, strings.Repeat("x", 40_000))
		if _, err := c.Compile([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if c.size > maxCached || len(c.compiled) > 30 {
			t.Fatalf("%d schemas of %d bytes", len(c.compiled), c.size)
		}
	}
}
