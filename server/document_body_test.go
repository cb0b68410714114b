package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"teamdata/e2e/kit"
)

// bodySchema is what the document says of a part of a request's body.
type bodySchema struct {
	Ref                  string `json:"$ref"`
	Type                 any    // one, or a list of two of which one is "null"
	Properties           map[string]*bodySchema
	Required             []string
	Items                *bodySchema
	Minimum, Maximum     *int
	MinLength, MaxLength *int
	MinItems, MaxItems   int
}

// described puts what references refer to in their place.
func (s *bodySchema) described(t testing.TB, schemas map[string]json.RawMessage) {
	if s == nil {
		return
	}
	if s.Ref != "" {
		ref := s.Ref
		*s = bodySchema{}
		kit.Must(t, json.Unmarshal(schemas[ref[strings.LastIndexByte(ref, '/')+1:]], s))
	}
	s.Items.described(t, schemas)
	for _, p := range s.Properties {
		p.described(t, schemas)
	}
}

func (s *bodySchema) nullable() bool {
	types, ok := s.Type.([]any)
	return ok && slices.Contains(types, "null")
}

func (s *bodySchema) is() string {
	if types, ok := s.Type.([]any); ok {
		return types[0].(string)
	}
	return s.Type.(string)
}

// handedOut are deliveries that a client knows.
type handedOut struct {
	ids    []string
	leased []string // as they are given back
}

// add keeps the last few, whose leases may not have ended.
func (h *handedOut) add(deliveries []pulledDelivery) {
	last := func(of []string) []string { return of[max(0, len(of)-8):] }
	for _, d := range deliveries {
		h.ids = last(append(h.ids, d.ID))
		h.leased = last(append(h.leased, fmt.Sprintf(`{"id":%q,"lease":%q}`, d.ID, d.Lease)))
	}
}

// draw makes JSON up, and reports whether it is as the schema says.
func (s *bodySchema) draw(d *draws, known *handedOut) (text string, fits bool) {
	if d.oneIn(32) {
		return "null", s.nullable()
	}
	if d.oneIn(64) {
		other := pick(d, `1.5`, `"x"`, `[]`, `{}`, `true`, `1e9`)
		fits := map[string]bool{`"x"`: s.is() == "string", `[]`: s.is() == "array" && s.MinItems == 0, `{}`: s.is() == "object" && s.Required == nil}
		return other, fits[other]
	}
	switch s.is() {
	case "integer":
		n := pick(d, *s.Minimum, *s.Maximum, *s.Minimum+d.below(*s.Maximum-*s.Minimum+1), *s.Minimum-1, *s.Maximum+1)
		return strconv.Itoa(n), n >= *s.Minimum && n <= *s.Maximum
	case "string":
		return s.drawText(d, known)
	case "array":
		return s.drawList(d, known)
	}
	if _, leased := s.Properties["lease"]; leased && len(known.leased) > 0 && d.below(8) > 0 {
		return pick(d, known.leased...), true
	}
	return s.drawObject(d, known)
}

func (s *bodySchema) drawText(d *draws, known *handedOut) (text string, fits bool) {
	value := strings.ToValidUTF8(d.text(), "é")
	if most := s.MaxLength; most != nil {
		value = strings.Repeat("é", pick(d, 0, 1, *most, *most+1))
	} else if len(known.ids) > 0 && d.below(8) > 0 {
		value = pick(d, known.ids...)
	}
	quoted, _ := json.Marshal(value)
	n := len([]rune(value))
	return string(quoted), n >= valueOr(s.MinLength, 0) && n <= valueOr(s.MaxLength, n)
}

func (s *bodySchema) drawList(d *draws, known *handedOut) (text string, fits bool) {
	n := 1 + d.below(2)
	if d.oneIn(16) {
		n = pick(d, 0, s.MaxItems, s.MaxItems+1)
	}
	fits = n >= s.MinItems && n <= s.MaxItems
	items := make([]string, n)
	for i := range items {
		item, good := s.Items.draw(d, known)
		items[i], fits = item, fits && good
	}
	return "[" + strings.Join(items, ",") + "]", fits
}

func (s *bodySchema) drawObject(d *draws, known *handedOut) (text string, fits bool) {
	var fields []string
	fits = true
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		required := slices.Contains(s.Required, name)
		if required && d.oneIn(16) || !required && d.below(2) == 0 {
			fits = fits && !required
			continue
		}
		value, good := s.Properties[name].draw(d, known)
		fields, fits = append(fields, strconv.Quote(name)+":"+value), fits && good
	}
	if d.oneIn(32) {
		fields, fits = append(fields, `"unknown":null`), false
	}
	return "{" + strings.Join(fields, ", ") + "}", fits
}

// drawBody gives the request a body by the operation's schema, or what is none.
func (a *asking) drawBody(d *draws, known *handedOut) {
	text, fits := a.body.draw(d, known)
	switch d.below(16) {
	case 13:
		text = strings.Repeat(" ", documentedBody+d.below(2))
		fits = false
	case 14:
		text = text[:d.below(len(text))]
		fits = text == "" && a.body.Required == nil
	case 15:
		text, fits = text+"x", false
	}
	a.sent, a.fits, a.chunked = []byte(text), fits, d.below(2) == 1
	a.header["Content-Type"] = []string{"application/json"}
}
