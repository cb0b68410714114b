package operator

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// operation is one of the admin API. operations.gen.go has all of them.
type operation struct {
	method, path string // such as GET and /orgs/{org}
	summary      string // such as Read an org
	flags        []flag // the plain fields of its body, or the filters of a list
}

// flag is a field of an operation as a flag of its command.
type flag struct {
	field, name string
	kind        kind
	required    bool
	usage       string
}

// kind is what a flag takes.
type kind int

const (
	text kind = iota
	texts
	number
	truth
	duration   // the field is a number of seconds
	pastTime   // a time, or how long ago it was
	futureTime // a time, or how long from now it will be
)

// object is a request's body, or the parameters of a list.
type object map[string]any

// only is the operation with the flags of some fields, none of which has to be given.
func (o operation) only(fields ...string) operation {
	var flags []flag
	for _, f := range o.flags {
		if slices.Contains(fields, f.field) {
			f.required = false
			flags = append(flags, f)
		}
	}
	o.flags = flags
	return o
}

// without is the operation without the flag of a field.
func (o operation) without(field string) operation {
	o.flags = slices.DeleteFunc(slices.Clone(o.flags), func(f flag) bool { return f.field == field })
	return o
}

// names are the names of the flags.
func (o operation) names() (names []string) {
	for _, f := range o.flags {
		names = append(names, f.name)
	}
	return names
}

// bind adds the flags to a command's.
func (o operation) bind(to *pflag.FlagSet) {
	for _, f := range o.flags {
		switch f.kind {
		case text:
			to.String(f.name, "", f.usage)
		case texts:
			to.StringSlice(f.name, nil, f.usage)
		case number:
			to.Int64(f.name, 0, f.usage)
		case truth:
			to.Bool(f.name, false, f.usage)
		case duration:
			to.Duration(f.name, 0, f.usage)
		case pastTime:
			to.Var(&timeFlag{sign: -1}, f.name, f.usage+", such as 2026-11-21T12:00:00Z, or how long ago, such as 24h")
		case futureTime:
			to.Var(&timeFlag{sign: 1}, f.name, f.usage+", or how long from now, such as 720h")
		}
		if f.required {
			require(to, f.name)
		}
	}
}

// given are the fields whose flags were set.
func (o operation) given(from *pflag.FlagSet) object {
	fields := object{}
	for _, f := range o.flags {
		if set := from.Lookup(f.name); set.Changed {
			fields[f.field] = valueOf(set.Value)
		}
	}
	return fields
}

// valueOf is the value of a flag as JSON has it, but for a [fromNow].
func valueOf(v pflag.Value) any {
	switch list, ok := v.(pflag.SliceValue); {
	case ok:
		return list.GetSlice()
	case v.Type() == "int64", v.Type() == "bool":
		return json.RawMessage(v.String())
	case v.Type() == "duration":
		d, _ := time.ParseDuration(v.String())
		return int64(d / time.Second)
	}
	if t, ok := v.(*timeFlag); ok && t.fromNow != nil {
		return *t.fromNow
	}
	return v.String()
}

// pathTo is the path of an operation, with the org and the first argument in their places.
func (s *session) pathTo(o operation) (string, error) {
	path := o.path
	if strings.Contains(path, "{org}") {
		if err := s.findOrg(); err != nil {
			return "", err
		}
		path = strings.ReplaceAll(path, "{org}", url.PathEscape(s.org))
	}
	if before, rest, ok := strings.Cut(path, "{"); ok {
		_, after, _ := strings.Cut(rest, "}")
		path = before + url.PathEscape(s.args[0]) + after
	}
	return path, nil
}
