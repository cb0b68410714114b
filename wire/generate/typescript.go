package main

import (
	"cmp"
	"strings"
)

// typeScriptOperation is an operation as a method of the TypeScript client.
type typeScriptOperation struct {
	operation
	part string
}

func (o typeScriptOperation) Comment() string {
	text := upper(o.sentences())
	if line := "  /** " + text + " */"; len(line) <= 120 {
		return line
	}
	return "  /**\n" + wrap(text, "   * ", 90) + "\n   */"
}

// Arguments are those before the options.
func (o typeScriptOperation) Arguments() string {
	var list strings.Builder
	for _, id := range o.ids() {
		list.WriteString(id + ": string, ")
	}
	if argument := o.Argument(); argument != "" {
		list.WriteString(argument + ": " + o.sends() + ", ")
	}
	return list.String()
}

func (o typeScriptOperation) sends() string {
	if e := o.Sent(); e.Property != "" {
		return typeScriptType(e.itemType()) + "[]"
	}
	return typeScriptType(o.Body())
}

func typeScriptType(name string) string {
	if name == "string" {
		return name
	}
	return "types." + name
}

// Options is the type of the options.
func (o typeScriptOperation) Options() string {
	switch {
	case o.Filters() != nil:
		return "ListOptions & NonNullable<types." + o.Item() + "Filter>"
	case o.Item() != "":
		return "ListOptions"
	case o.has("If-Match"):
		return "InstructionsOptions"
	case o.has("Teamdata-Actor"):
		return "ChangeOptions"
	}
	return "CallOptions"
}

// Target is the path, as an expression.
func (o typeScriptOperation) Target() string {
	if len(o.ids()) == 0 {
		return `"` + o.path + `"`
	}
	return "path`" + inBraces.ReplaceAllString(o.path, "$${$1}") + "`"
}

// Answer is the type of the answer.
func (o typeScriptOperation) Answer() string {
	var names []string
	for _, name := range o.answers() {
		names = append(names, typeScriptType(name))
	}
	if len(names) == 0 {
		return "void"
	}
	return strings.Join(names, " | ")
}

// Returns is the type of what the method returns.
func (o typeScriptOperation) Returns() string {
	if e := o.Answered(); e.Property != "" {
		return typeScriptType(e.itemType()) + "[]"
	}
	return o.Answer()
}

// transport is the field by which the request is sent.
func (o typeScriptOperation) transport() string { return cmp.Or(o.part, "transport") }

// Request is the call of the transport, as an expression.
func (o typeScriptOperation) Request() string {
	content := o.Argument()
	if o.Sent().Property != "" {
		content = "{ " + content + " }"
	}
	request := `"` + o.method + `", ` + o.Target()
	switch options := o.Options(); {
	case options == "CallOptions" && content == "":
		return "this." + o.transport() + ".request(" + request + ", options)"
	case options == "CallOptions":
		return "this." + o.transport() + ".request(" + request + ", { ...options, body: " + content + " })"
	case content == "":
		content = "undefined"
		fallthrough
	default:
		return "send(this.transport, " + request + ", " + content + ", options)"
	}
}
