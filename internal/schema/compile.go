package schema

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// part is an object of a schema, compiled: its rules, of which the last need to know
// what the others have evaluated.
type part struct {
	resource    *resource
	never       bool // it is the schema false
	rules, last []rule
}

// rule is what a keyword demands of a value. It adds what it evaluated to seen.
type rule func(c *checker, value any, seen *seen) bool

// document is a schema as it was given, or a metaschema.
type document struct {
	draft *draft
	root  any
	bases map[string]*resource // by the JSON pointer of each of its parts
}

// resource is a document, or a part of it with an $id of its own.
type resource struct {
	*document
	url     *url.URL
	pointer string            // in the document
	anchors map[string]string // their pointers, by name
	dynamic map[string]*part  // the parts of its dynamic anchors
}

type compiler struct {
	resources map[string]*resource // by URL
	parts     map[place]*part
	waiting   []func() error // work left, so that a long chain of references needs no deep stack
	tracks    bool           // a part has a keyword for what others left unevaluated
}

// place is where a part is.
type place struct {
	*document
	pointer string
}

// compile compiles a schema, which may refer to itself and to metaschemas.
func compile(root any, d *draft, at string) (*Schema, error) {
	c := &compiler{resources: map[string]*resource{}, parts: map[place]*part{}}
	document, err := c.add(root, d, at)
	if err != nil {
		return nil, err
	}
	s := &Schema{root: c.part(document, "")}
	for len(c.waiting) > 0 {
		next := c.waiting[0]
		c.waiting = c.waiting[1:]
		if err := next(); err != nil {
			return nil, err
		}
	}
	s.tracks = c.tracks
	return s, nil
}

// add registers a document, with the resources in it.
func (c *compiler) add(root any, d *draft, at string) (*document, error) {
	base, err := url.Parse(at)
	if err != nil {
		return nil, unusable("%v", err)
	}
	added := &document{draft: d, root: root, bases: map[string]*resource{}}
	first := newResource(added, base, "")
	c.resources[base.String()] = first
	return added, c.walk(first, "", root)
}

func errElsewhere(url string) error {
	return &Error{Message: short(fmt.Sprintf("can't be used: %.200q: nothing is fetched from elsewhere", url)), Hint: "put the schema under $defs"}
}

func newResource(d *document, at *url.URL, pointer string) *resource {
	return &resource{document: d, url: at, pointer: pointer, anchors: map[string]string{}, dynamic: map[string]*part{}}
}

// walk registers the resources and anchors of a part and the parts in it.
func (c *compiler) walk(r *resource, pointer string, value any) error {
	object, ok := value.(map[string]any)
	if !ok {
		return nil
	}
	r, err := c.identify(r, pointer, object)
	if err != nil {
		return err
	}
	r.bases[pointer] = r
	for _, keyword := range r.draft.parts {
		inner, ok := object[keyword.name]
		if !ok {
			continue
		}
		at := pointer + "/" + keyword.name
		if keyword.kind&onePart != 0 {
			err = cmp.Or(err, c.walk(r, at, inner))
		}
		if list, ok := inner.([]any); ok && keyword.kind&listOfParts != 0 {
			for i, one := range list {
				err = cmp.Or(err, c.walk(r, at+"/"+strconv.Itoa(i), one))
			}
		}
		if named, ok := inner.(map[string]any); ok && keyword.kind&namedParts != 0 {
			for name, one := range named {
				err = cmp.Or(err, c.walk(r, at+"/"+escape(name), one))
			}
		}
	}
	return err
}

// identify returns the resource that a part belongs to: a new one if it has an $id.
func (c *compiler) identify(r *resource, pointer string, object map[string]any) (*resource, error) {
	if r.draft.old && object["$ref"] != nil {
		return r, nil
	}
	if id, ok := object["$id"].(string); ok {
		at, err := r.url.Parse(id)
		if err != nil {
			return r, unusable("$id: %v", err)
		}
		name := at.Fragment
		if at.Fragment, at.RawFragment = "", ""; at.String() != r.url.String() {
			if _, again := c.resources[at.String()]; again {
				return r, unusable("the $id %q is given twice", id)
			}
			r = newResource(r.document, at, pointer)
			c.resources[at.String()] = r
		}
		if name != "" {
			r.anchors[name] = pointer
		}
	}
	if name, ok := object["$anchor"].(string); ok && !r.draft.old {
		if _, again := r.anchors[name]; again {
			return r, unusable("the $anchor %q is given twice", name)
		}
		r.anchors[name] = pointer
	}
	if name, ok := object["$dynamicAnchor"].(string); ok && !r.draft.old {
		r.anchors[name] = pointer
		r.dynamic[name] = c.part(r.document, pointer)
	}
	return r, nil
}

// unusable is the error of a schema that is valid by its metaschema.
func unusable(format string, args ...any) error {
	return &Error{Message: short("can't be used: " + fmt.Sprintf(format, args...))}
}

// part returns the part at a pointer, which is compiled later.
func (c *compiler) part(d *document, pointer string) *part {
	p := c.parts[place{d, pointer}]
	if p == nil {
		p = &part{}
		c.parts[place{d, pointer}] = p
		c.waiting = append(c.waiting, func() error { return c.fill(p, d, pointer) })
	}
	return p
}

func (c *compiler) fill(p *part, d *document, pointer string) error {
	value, base, ok := d.find(pointer)
	if !ok {
		return unusable("there is nothing at %q", "#"+pointer)
	}
	p.resource = base
	switch value := value.(type) {
	case bool:
		if p.never = !value; p.never {
			p.rules = []rule{func(c *checker, _ any, _ *seen) bool { return c.fail("false schema") }}
		}
	case map[string]any:
		s := &source{compiler: c, resource: base, pointer: pointer, object: value}
		p.rules, p.last = s.compile(rules), s.compile(lastRules)
		if base.draft.old && value["$ref"] != nil {
			p.rules, p.last = s.compile(rules[:1]), nil
		}
		c.tracks = c.tracks || p.last != nil
		return s.err
	default:
		return unusable("there is no schema at %q", "#"+pointer)
	}
	return nil
}

// find returns what is at a pointer, and the resource that it belongs to.
func (d *document) find(pointer string) (value any, base *resource, ok bool) {
	value, base = d.root, d.bases[""]
	if base == nil {
		base = &resource{document: d} // it is true or false, and has no parts
	}
	at := ""
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if pointer == "" {
			break
		}
		at += "/" + step
		switch v := value.(type) {
		case map[string]any:
			value, ok = v[unescape(step)]
		case []any:
			i, err := strconv.Atoi(step)
			if ok = err == nil && i >= 0 && i < len(v); ok {
				value = v[i]
			}
		default:
			ok = false
		}
		if !ok {
			return nil, nil, false
		}
		base = cmp.Or(d.bases[at], base)
	}
	return value, base, true
}

// refer returns the part that a reference leads to, and the name of the dynamic anchor
// by which it does, if any.
func (c *compiler) refer(from *resource, reference string) (p *part, dynamic string, err error) {
	at, err := from.url.Parse(reference)
	if err != nil {
		return nil, "", unusable("%v", err)
	}
	fragment := at.Fragment
	at.Fragment, at.RawFragment = "", ""
	to, err := c.resourceAt(at)
	if err != nil {
		return nil, "", err
	}
	if fragment == "" || fragment[0] == '/' {
		return c.part(to.document, to.pointer+fragment), "", nil
	}
	pointer, ok := to.anchors[fragment]
	if !ok {
		return nil, "", unusable("there is no anchor %q", fragment)
	}
	if to.dynamic[fragment] != nil {
		dynamic = fragment
	}
	return c.part(to.document, pointer), dynamic, nil
}

func (c *compiler) resourceAt(at *url.URL) (*resource, error) {
	text := at.String()
	if c.resources[text] == nil {
		draft := draftOf(text)
		if draft == nil {
			return nil, errElsewhere(text)
		}
		if text = draft.url; c.resources[text] == nil {
			if _, err := c.add(draft.metaschema(), draft.strict(), text); err != nil {
				return nil, err
			}
		}
	}
	return c.resources[text], nil
}

var escaper, unescaper = strings.NewReplacer("~", "~0", "/", "~1"), strings.NewReplacer("~1", "/", "~0", "~")

func escape(name string) string   { return escaper.Replace(name) }
func unescape(step string) string { return unescaper.Replace(step) }

// source is an object of a schema that is being compiled.
type source struct {
	*compiler
	*resource
	pointer string
	object  map[string]any
	err     error // the first one
}

func (s *source) compile(makers []func(*source) rule) (made []rule) {
	for _, maker := range makers {
		if r := maker(s); r != nil {
			made = append(made, r)
		}
	}
	return made
}

// one is the part that a keyword has for value; nil: it isn't there.
func (s *source) one(keyword string) *part {
	if _, ok := s.object[keyword]; !ok {
		return nil
	}
	return s.part(s.document, s.pointer+"/"+keyword)
}

func (s *source) list(keyword string) (parts []*part) {
	list, _ := s.object[keyword].([]any)
	for i := range list {
		parts = append(parts, s.part(s.document, s.pointer+"/"+keyword+"/"+strconv.Itoa(i)))
	}
	return parts
}

func (s *source) named(keyword string) map[string]*part {
	named, ok := s.object[keyword].(map[string]any)
	if !ok {
		return nil
	}
	parts := make(map[string]*part, len(named))
	for name, value := range named {
		if _, isList := value.([]any); !isList { // as in dependencies
			parts[name] = s.part(s.document, s.pointer+"/"+keyword+"/"+escape(name))
		}
	}
	return parts
}

func (s *source) pattern(text string) *regexp.Regexp {
	compiled, err := regexp.Compile(text)
	if err != nil && s.err == nil {
		s.err = unusable("%q is not a pattern that this program supports: %v", text, err)
	}
	return compiled
}

// texts are those of a list.
func texts(value any) (found []string) {
	list, _ := value.([]any)
	for _, v := range list {
		if text, ok := v.(string); ok {
			found = append(found, text)
		}
	}
	return found
}
