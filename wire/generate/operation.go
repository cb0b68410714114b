package main

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	yaml "github.com/oasdiff/yaml3"
)

// operation is one operation of a document.
type operation struct {
	in           *contents
	method, path string // such as GET and /orgs/{org}

	ID                   string `yaml:"operationId"`
	Tags                 []string
	Summary, Description string
	Parameters           []parameter
	RequestBody          *struct {
		MaxBody string `yaml:"x-max-body"` // one that is larger than others; empty: it is as others
		Content content
	} `yaml:"requestBody"`
	Responses map[string]struct{ Content content }
}

type parameter struct {
	Ref         string `yaml:"$ref"`
	Name, In    string
	Description string
	Schema      schema
}

type content map[string]struct{ Schema schema }

type schema struct {
	Ref         string `yaml:"$ref"`
	Description string
	Type        any
	Format      string
	Required    []string
	Properties  map[string]schema
	Items       *schema
	Minimum     any
	Maximum     any
}

func (s schema) name() string { return s.Ref[strings.LastIndexByte(s.Ref, '/')+1:] }

func (c content) schema() schema { return c["application/json"].Schema }

// contents are the parts of a document that operations are made of.
type contents struct {
	Info       struct{ Version string }
	Servers    []struct{ URL string }
	Paths      yaml.Node
	Webhooks   yaml.Node
	Components struct {
		Parameters map[string]parameter
		Schemas    map[string]schema
	}
	operations []operation `yaml:"-"` // in their order
}

// contents reads a document, and resolves the references to parameters.
func (d document) contents() (*contents, error) {
	c := &contents{}
	if err := d.tree.Decode(c); err != nil {
		return c, err
	}
	for _, path := range pairsOf(&c.Paths) {
		var ofPath []parameter
		for _, item := range pairsOf(path[1]) {
			if item[0].Value == "parameters" {
				if err := item[1].Decode(&ofPath); err != nil {
					return c, err
				}
				continue
			}
			o := operation{in: c, method: strings.ToUpper(item[0].Value), path: path[0].Value}
			if err := item[1].Decode(&o); err != nil {
				return c, fmt.Errorf("%s %s: %w", o.method, o.path, err)
			}
			o.Parameters = slices.Concat(ofPath, o.Parameters)
			for i, p := range o.Parameters {
				if p.Ref != "" {
					o.Parameters[i] = c.Components.Parameters[schema{Ref: p.Ref}.name()]
				}
			}
			c.operations = append(c.operations, o)
		}
	}
	return c, nil
}

// has reports whether an operation has a parameter, such as the header If-Match.
func (o operation) has(name string) bool {
	return slices.ContainsFunc(o.Parameters, func(p parameter) bool { return p.Name == name })
}

// Filters are the parameters of a list that select some of its items.
func (o operation) Filters() (names []string) {
	for _, p := range o.Parameters {
		if p.In == "query" && p.Name != "limit" && p.Name != "after" {
			names = append(names, p.Name)
		}
	}
	return names
}

// answers are the names of the schemas of a success, each once; that of what was created
// comes first.
func (o operation) answers() (names []string) {
	for _, status := range []string{"201", "200", "202"} {
		if name := o.Responses[status].Content.schema().name(); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Item is what a list is of; empty: the operation is no list.
func (o operation) Item() string {
	if !o.has("after") {
		return ""
	}
	return o.in.Components.Schemas[o.answers()[0]].Properties["data"].Items.name()
}

// Body is the name of the request's schema; empty: nothing is sent.
func (o operation) Body() string {
	if o.RequestBody == nil || o.RequestBody.Content.schema().name() == "Nothing" {
		return ""
	}
	return o.RequestBody.Content.schema().name()
}

// Argument names what is sent: a NewSignInLink is a link, and a list is called as in its
// envelope.
func (o operation) Argument() string {
	if o.Body() == "" {
		return ""
	}
	return cmp.Or(o.Sent().Property, strings.ToLower(lastWord.FindString(o.Body())))
}

// envelope is a schema that has nothing but a list, of records or of texts. A client takes
// and returns the list itself.
type envelope struct {
	Property string // empty: the schema is no envelope
	items    schema
}

func (o operation) envelope(name string) envelope {
	properties := o.in.Components.Schemas[name].Properties
	for name, p := range properties {
		if len(properties) == 1 && p.Items != nil && (p.Items.Ref != "" || p.Items.Type == "string") {
			return envelope{name, *p.Items}
		}
	}
	return envelope{}
}

// itemType is the type of a list's items, which has one name in both languages.
func (e envelope) itemType() string { return cmp.Or(e.items.name(), "string") }

// Sent is the envelope of what is posted. A record that is put may have nothing but a list
// today, and stays a record.
func (o operation) Sent() envelope {
	if o.method != "POST" {
		return envelope{}
	}
	return o.envelope(o.Body())
}

// Answered is the envelope of the answer.
func (o operation) Answered() envelope {
	if answers := o.answers(); len(answers) == 1 {
		return o.envelope(answers[0])
	}
	return envelope{}
}

var (
	inBraces = regexp.MustCompile(`\{(\w+)\}`)
	lastWord = regexp.MustCompile(`[A-Z][a-z]+$`)
)

// ids are the names of the ids in an operation's path.
func (o operation) ids() (names []string) {
	for _, found := range inBraces.FindAllStringSubmatch(o.path, -1) {
		names = append(names, found[1])
	}
	return names
}

// sentences are an operation's summary and description as those of a method: "Create an
// org" is "creates an org".
func (o operation) sentences() string {
	words := strings.Fields(o.Summary)
	for i := range words {
		if i == 0 || words[i-1] == "or" && i == 2 { // as in "Create or update a plan"
			words[i] = thirdPerson(words[i])
		}
	}
	words[0] = strings.ToLower(words[0])
	return strings.Join(words, " ") + ". " + strings.Join(strings.Fields(o.Description), " ")
}

var consonantY = regexp.MustCompile(`[^aeiou]y$`)

func thirdPerson(verb string) string {
	if consonantY.MatchString(verb) {
		return strings.TrimSuffix(verb, "y") + "ies"
	}
	return verb + "s"
}

// wrap breaks a text into lines of a maximum length in bytes, each after a prefix.
func wrap(text, prefix string, most int) string {
	var lines []string
	for word := range strings.FieldsSeq(text) {
		if n := len(lines) - 1; n >= 0 && len(lines[n])+len(word) < most {
			lines[n] += " " + word
		} else {
			lines = append(lines, prefix+word)
		}
	}
	return strings.Join(lines, "\n")
}

// upper makes a name begin with a capital.
func upper(name string) string {
	if name == "" {
		return ""
	}
	return strings.ToUpper(name[:1]) + name[1:]
}
