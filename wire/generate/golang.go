package main

import (
	"regexp"
	"strings"
)

// goOperation is an operation as a method of the Go client.
type goOperation struct{ operation }

func (o goOperation) Name() string { return upper(o.ID) }

func (o goOperation) Comment() string {
	return wrap(strings.ReplaceAll(o.Name()+" "+o.sentences(), "`", ""), "// ", 88)
}

// Verb is the method's constant in net/http.
func (o goOperation) Verb() string { return "http.Method" + upper(strings.ToLower(o.method)) }

// goName is an id's name as Go writes it. A type is a name, for the word is taken.
func goName(id string) string {
	if id == "type" {
		return "name"
	}
	return regexp.MustCompile(`(\w)Id$`).ReplaceAllString(id, "${1}ID")
}

// IDs are the arguments that the path takes.
func (o goOperation) IDs() string {
	var names []string
	for _, id := range o.ids() {
		names = append(names, goName(id))
	}
	if len(names) == 0 {
		return ""
	}
	return strings.Join(names, ", ") + " string"
}

// Target is the path, as an expression.
func (o goOperation) Target() string {
	path := inBraces.ReplaceAllStringFunc(o.path, func(id string) string {
		return `"+url.PathEscape(` + goName(id[1:len(id)-1]) + `)+"`
	})
	return strings.TrimSuffix(`"`+path+`"`, `+""`)
}

// Sends is the type of the argument that is sent.
func (o goOperation) Sends() string {
	if e := o.Sent(); e.Property != "" {
		return "[]" + e.itemType()
	}
	return o.Body()
}

// Content is what is sent, as an expression.
func (o goOperation) Content() string {
	switch e := o.Sent(); {
	case o.Body() == "":
		return "nil"
	case e.Property != "":
		return o.Body() + "{" + upper(e.Property) + ": " + o.Argument() + "}"
	}
	return o.Argument()
}

// Answer is the type of the answer; empty: none. A result with two forms
// has a type that is written by hand, such as CreatedReplay.
func (o goOperation) Answer() string {
	switch answers := o.answers(); len(answers) {
	case 0:
		return ""
	case 1:
		return answers[0]
	}
	return "Created" + lastWord.FindString(o.ID)
}

// Returns is the type of what the method returns; empty: only an error.
func (o goOperation) Returns() string {
	if e := o.Answered(); e.Property != "" {
		return "[]" + e.itemType()
	}
	return o.Answer()
}

// Field is the field of the answer that is returned.
func (o goOperation) Field() string { return upper(o.Answered().Property) }
