package main

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// writeCommands writes the operations of an API for its command line, each with its plain
// fields as flags.
func (g generator) writeCommands(a api, c *contents) error {
	if a.commands == "" {
		return nil
	}
	text := header + "package " + path.Base(path.Dir(a.commands)) + "\n\n// The operations of the API's description.\nvar (\n"
	for _, o := range c.operations {
		text += fmt.Sprintf("%s = operation{%q, %q, %q, %s}\n", o.ID, o.method, o.path, o.Summary, o.flags())
	}
	return g.write(a.commands, []byte(text+")\n"))
}

// flags are the plain fields of a request's body and the filters of a list, as an
// expression.
func (o operation) flags() string {
	var flags strings.Builder
	add := func(name string, s schema, required bool) {
		s = o.in.resolve(s)
		if kind := s.flagKind(o.in, name); kind != "" {
			fmt.Fprintf(&flags, "{%q, %q, %s, %t, %q},\n", name, flagName(name), kind, required, s.usage(name, kind))
		}
	}
	for _, p := range o.Parameters {
		if slices.Contains(o.Filters(), p.Name) {
			p.Schema.Description = p.Description
			add(p.Name, p.Schema, false)
		}
	}
	body := o.in.Components.Schemas[o.Body()]
	for _, name := range body.names() {
		add(name, body.Properties[name], slices.Contains(body.Required, name))
	}
	if flags.Len() == 0 {
		return "nil"
	}
	return "[]flag{\n" + flags.String() + "}"
}

// resolve returns what a schema refers to, with the description that is beside the
// reference.
func (c *contents) resolve(s schema) schema {
	if s.Ref == "" {
		return s
	}
	target := c.Components.Schemas[s.name()]
	target.Description = cmp.Or(s.Description, target.Description)
	return target
}

// flagKind is the kind of flag that a field is; empty: it is not a plain field. A secret is
// none, because other users of a machine can see a command line.
func (s schema) flagKind(c *contents, name string) string {
	switch s.plainType() {
	case "boolean":
		return "truth"
	case "integer":
		if strings.HasSuffix(name, seconds) {
			return "duration"
		}
		return "number"
	case "array":
		if c.resolve(*s.Items).plainType() == "string" {
			return "texts"
		}
	case "string":
		switch {
		case name == "secret":
		case strings.HasSuffix(name, "At"):
			return "futureTime"
		case s.Format == "date-time":
			return "pastTime"
		default:
			return "text"
		}
	}
	return ""
}

// plainType is a schema's type, without null beside it.
func (s schema) plainType() string {
	if types, ok := s.Type.([]any); ok {
		return fmt.Sprint(types[0])
	}
	return fmt.Sprint(s.Type)
}

// seconds ends the name of a field that is a number of them. Its flag takes a duration.
const seconds = "Seconds"

var capitals = regexp.MustCompile(`[A-Z]`)

// flagName is the name of a field's flag: createdBy is --created-by.
func flagName(name string) string {
	switch name {
	case "q":
		return "query"
	case "endpoints":
		return "endpoint" // which is given once for each
	}
	return strings.ToLower(capitals.ReplaceAllString(strings.TrimSuffix(name, seconds), "-$0"))
}

// forShell is code that has to be in quotes on a command line, or the shell may put the names
// of files in its place.
var forShell = regexp.MustCompile("`([^`]*[*][^`]*)`")

// usage is a field's description as the help of its flag. One of its words, in back quotes,
// names the value, if it takes one.
func (s schema) usage(name, kind string) string {
	text := forShell.ReplaceAllString(strings.TrimSuffix(s.Description, "."), "'$1'")
	text = strings.NewReplacer("`", "", ", in seconds", "", "True to ", "").Replace(text)
	text = strings.ToLower(text[:1]) + text[1:]
	if kind == "truth" {
		return text
	}
	words := strings.Split(flagName(name), "-")
	for _, word := range []string{words[len(words)-1], "id", "time"} {
		if at := regexp.MustCompile(`(?i)\b` + word + `\b`).FindStringIndex(text); at != nil {
			return text[:at[0]] + "`" + text[at[0]:at[1]] + "`" + text[at[1]:]
		}
	}
	return text
}
