package operator

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"teamdata/internal/terminal"
)

// output prints for people and scripts. Text that strangers have a part in is
// printed so that a terminal takes none of it for a command.
type output struct {
	to    io.Writer
	width int // of the terminal; 0: it is none
}

func (o output) line(text string) error {
	_, err := fmt.Fprintln(o.to, text)
	return err
}

// ids prints an id a line.
func (o output) ids(ids []string) error {
	for _, id := range ids {
		if err := o.line(terminal.Plain(id)); err != nil {
			return err
		}
	}
	return nil
}

// text prints JSON, or a text of several lines, as it is, but fit for a terminal: control
// characters are escaped, which changes no value in JSON.
func (o output) text(text string) error { return o.part(text + "\n") }

// part is text without a line break behind it.
func (o output) part(text string) error {
	if o.width > 0 {
		text = terminal.Escape(text, "\n\t")
	}
	_, err := io.WriteString(o.to, text)
	return err
}

// record prints a record as a name and a value a line, and the lines of a certificate below
// one another.
func (o output) record(r record) error {
	t := terminal.Table{To: o.to}
	var rows [][]string
	for _, f := range r {
		name := f.name + ":"
		for _, line := range f.lines() {
			rows = append(rows, []string{name, orDash(o.when(line, toSecond+" UTC"))})
			name = ""
		}
	}
	return t.Print(rows...)
}

// How people read times: in a list, and where seconds matter.
const (
	toMinute = "2006-01-02 15:04"
	toSecond = "2006-01-02 15:04:05"
)

// when puts a time of the API into a layout for people at a terminal. For scripts it stays
// as it is, and so does any other text.
func (o output) when(text, layout string) string {
	t, err := time.Parse(apiTime, text)
	if o.width == 0 || err != nil {
		return text
	}
	return t.Format(layout)
}

// orDash makes what is empty visible, also to awk.
func orDash(text string) string { return cmp.Or(text, "-") }

// record is a JSON object whose fields stay in their order. Those of an object
// inside are its own, such as subscription.plan, unless it is a document.
type record []field

type field struct {
	name  string
	value json.RawMessage
}

// UnmarshalJSON reads an object.
func (r *record) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if _, err := d.Token(); err != nil { // {
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		f := field{}
		if f.name, _ = name.(string); f.name == "" {
			return errors.New("an object is expected")
		}
		if err := d.Decode(&f.value); err != nil {
			return err
		}
		*r = append(*r, f.flat()...)
	}
	return nil
}

// documents are the fields whose objects are the users' own.
var documents = []string{"body", "schema"}

// flat returns the field, or the fields of its object, or those of the objects in
// its list, numbered from 1.
func (f field) flat() (fields []field) {
	if slices.Contains(documents, f.name) {
		return []field{f}
	}
	var list []json.RawMessage
	if bytes.HasPrefix(f.value, []byte("[{")) && json.Unmarshal(f.value, &list) == nil {
		for i, value := range list {
			fields = append(fields, field{fmt.Sprintf("%s.%d", f.name, i+1), value}.flat()...)
		}
		return fields
	}
	var inner record
	if !bytes.HasPrefix(f.value, []byte("{")) || json.Unmarshal(f.value, &inner) != nil || len(inner) == 0 {
		return []field{f}
	}
	for i := range inner {
		inner[i].name = f.name + "." + inner[i].name
	}
	return inner
}

// text is the value in one line; empty for null.
func (f field) text() string { return textOf(f.value) }

// certificates are the fields that hold PEM.
var certificates = []string{"clientCertificate", "ca"}

// lines are the lines of a certificate, and the one line of any other value.
func (f field) lines() []string {
	var pem string
	if !slices.Contains(certificates, f.name) || json.Unmarshal(f.value, &pem) != nil {
		return []string{f.text()}
	}
	return strings.Split(terminal.Escape(strings.TrimSpace(pem), "\n"), "\n")
}

func textOf(value json.RawMessage) string {
	var text *string
	if json.Unmarshal(value, &text) == nil {
		if text == nil {
			return ""
		}
		return terminal.Plain(*text)
	}
	var list []json.RawMessage
	if json.Unmarshal(value, &list) == nil {
		var parts []string
		for _, v := range list {
			parts = append(parts, textOf(v))
		}
		return strings.Join(parts, ",")
	}
	return terminal.Plain(string(value))
}

// find is the text of the field with a name, empty where there is none.
func (r record) find(name string) string {
	for _, f := range r {
		if f.name == name {
			return f.text()
		}
	}
	return ""
}

// without is the record without some fields, and without the fields inside them.
func (r record) without(names ...string) record {
	return slices.DeleteFunc(slices.Clone(r), func(f field) bool {
		outer, _, _ := strings.Cut(f.name, ".")
		return slices.Contains(names, outer)
	})
}
