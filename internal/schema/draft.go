package schema

import (
	_ "embed"
	"strings"
	"sync"
)

// draft is a version of JSON Schema.
type draft struct {
	url      string
	text     []byte // of its metaschema
	parts    []keyword
	old      bool // as in draft-07: a $ref stands alone, and items may be a list
	formats  bool // they are checked, and not only notes
	compiled func() (*Schema, error)
}

// keyword is one whose value has parts, and where it has them.
type keyword struct {
	name string
	kind int
}

const (
	onePart = 1 << iota
	listOfParts
	namedParts
)

//go:embed metaschemas/2020-12.json
var text2020 []byte

//go:embed metaschemas/draft-07.json
var text07 []byte

var draft2020 = &draft{
	url: "https://json-schema.org/draft/2020-12/schema", text: text2020,
	parts: append(sharedParts, []keyword{
		{"$defs", namedParts}, {"items", onePart}, {"prefixItems", listOfParts}, {"dependentSchemas", namedParts},
		{"unevaluatedItems", onePart}, {"unevaluatedProperties", onePart}, {"contentSchema", onePart},
	}...),
}

var draft07 = &draft{
	url: "http://json-schema.org/draft-07/schema", text: text07, old: true, formats: true,
	parts: append(sharedParts, keyword{"items", onePart | listOfParts}, keyword{"additionalItems", onePart}),
}

var sharedParts = []keyword{
	{"definitions", namedParts}, {"properties", namedParts}, {"patternProperties", namedParts}, {"dependencies", namedParts},
	{"additionalProperties", onePart}, {"propertyNames", onePart}, {"contains", onePart}, {"not", onePart},
	{"if", onePart}, {"then", onePart}, {"else", onePart},
	{"allOf", listOfParts}, {"anyOf", listOfParts}, {"oneOf", listOfParts},
}

func init() {
	for _, d := range []*draft{draft2020, draft07} {
		d.compiled = sync.OnceValues(func() (*Schema, error) { return compile(d.metaschema(), d.strict(), d.url) })
	}
}

// draftOf returns the draft of a metaschema's URL; nil: it is not known.
func draftOf(url string) *draft {
	text := strings.TrimSuffix(url, "#")
	for _, d := range []*draft{draft2020, draft07} {
		_, name, _ := strings.Cut(d.url, "://")
		if text == "https://"+name || text == "http://"+name {
			return d
		}
	}
	return nil
}

func (d *draft) metaschema() any {
	value, err := parse(d.text)
	if err != nil {
		panic(err) // it is part of the program
	}
	return value
}

// strict is the draft as its metaschema uses it, which relies on formats.
func (d *draft) strict() *draft {
	s := *d
	s.formats = true
	return &s
}
