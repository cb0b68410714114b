package operator

import (
	"encoding/json"
	"errors"
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
	bind        binder
	required    bool
	usage       string
}

// binder adds a flag of one kind to a command's.
type binder func(to *pflag.FlagSet, name, usage string)

func text(to *pflag.FlagSet, name, usage string)     { to.String(name, "", usage) }
func texts(to *pflag.FlagSet, name, usage string)    { to.StringSlice(name, nil, usage) }
func number(to *pflag.FlagSet, name, usage string)   { to.Int64(name, 0, usage) }
func truth(to *pflag.FlagSet, name, usage string)    { to.Bool(name, false, usage) }
func duration(to *pflag.FlagSet, name, usage string) { to.Var(new(secondsFlag), name, usage) }
func pastTime(to *pflag.FlagSet, name, usage string) {
	to.Var(&timeFlag{sign: -1}, name, usage+", such as 2026-11-21T12:00:00Z, or how long ago, such as 24h")
}
func futureTime(to *pflag.FlagSet, name, usage string) {
	usage, byDefault, _ := strings.Cut(usage, "; ") // such as never by default
	to.Var(&timeFlag{sign: 1}, name, usage+", or how long from now, such as 720h; "+byDefault)
}

// secondsFlag is a flag with a time such as 24h, which the API takes in seconds.
type secondsFlag time.Duration

// Set reads the flag.
func (d *secondsFlag) Set(text string) error {
	seconds, ok := wholeSeconds(text)
	if !ok {
		return errors.New("it is a time in whole seconds, such as 24h, 90m or 30s")
	}
	*d = secondsFlag(time.Duration(seconds) * time.Second)
	return nil
}

// String is the time as Go writes it; empty for none.
func (d *secondsFlag) String() string {
	if *d == 0 {
		return ""
	}
	return time.Duration(*d).String()
}

// Type is how the help names the value.
func (d *secondsFlag) Type() string { return "duration" }

// lists are the commands that list what a field may be.
var lists = map[string]string{"events": "event-type list", "plan": "plan list", "type": "event-type list"}

// object is a request's body, or the parameters of a list.
type object map[string]any

// without is the operation without the flags of some fields.
func (o operation) without(fields ...string) operation {
	o.flags = slices.DeleteFunc(slices.Clone(o.flags), func(f flag) bool { return slices.Contains(fields, f.field) })
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
		if list := lists[f.field]; list != "" {
			f.usage += "; see: teamdata " + list
		}
		f.bind(to, f.name, f.usage)
	}
}

// fieldsSet are the fields whose flags were set.
func (o operation) fieldsSet(from *pflag.FlagSet) object {
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
	}
	if d, ok := v.(*secondsFlag); ok {
		return int64(time.Duration(*d) / time.Second)
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
