package strictjson

import (
	"encoding/json"
	"time"

	"teamdata/store"
)

// The functions of this file make the fields of each type.

// Text is a field with a string.
func (r *Reader) Text(name string, to *string) Field {
	return Field{name, func() (err error) {
		*to, _, err = r.string()
		return err
	}}
}

// OptionalText is a field with a string. Where it is left out, to stays nil.
func (r *Reader) OptionalText(name string, to **string) Field {
	return Field{name, func() error {
		text, _, err := r.string()
		*to = &text
		return err
	}}
}

// NullableText is a field in which null and the empty string differ: set says
// whether there was a string.
func (r *Reader) NullableText(name string, to *string, set *bool) Field {
	return Field{name, func() (err error) {
		*to, *set, err = r.string()
		return err
	}}
}

// Time is a field with a time, in the form of [store.ParseTime]. An empty
// string is the zero time.
func (r *Reader) Time(name string, to *time.Time) Field {
	return Field{name, func() error {
		text, _, err := r.string()
		if *to = (time.Time{}); err != nil || text == "" {
			return err
		}
		if *to, err = store.ParseTime(text); err != nil {
			return r.Wrong("%v", err)
		}
		return nil
	}}
}

// Bool is a field with true or false.
func (r *Reader) Bool(name string, to *bool) Field {
	return Field{name, func() error {
		t, err := r.token()
		if err != nil {
			return err
		}
		var ok bool
		if *to, ok = t.(bool); !ok && t != nil {
			return r.Wrong("is %s; true or false is expected", typeOf(t))
		}
		return nil
	}}
}

// Int is a field with a whole number from least to most, written without
// fraction and exponent.
func (r *Reader) Int(name string, to *int64, least, most int64) Field {
	return Field{name, func() error {
		t, err := r.token()
		if *to = 0; err != nil || t == nil {
			return err
		}
		number, ok := t.(json.Number)
		if !ok {
			return r.Wrong("is %s; a whole number is expected", typeOf(t))
		}
		n, err := number.Int64()
		if err != nil || n < least || n > most {
			return r.Wrong("is %.40s; a whole number from %d to %d is expected", number, least, most)
		}
		*to = n
		return nil
	}}
}

// Raw is a field with any value, kept as it is written; null is nil. It may
// hold objects and lists in one another to a depth of MaxDepth.
func (r *Reader) Raw(name string, to *[]byte) Field {
	return Field{name, func() (err error) {
		*to, err = r.raw()
		return err
	}}
}

// Texts is a field with a list of strings.
func (r *Reader) Texts(name string, to *[]string) Field {
	return r.names(name, func() { *to = nil }, func(text string) error {
		*to = append(*to, text)
		return nil
	})
}

// Set is a field with a list of names for the bits of a set.
func Set[T ~uint8](r *Reader, name string, to *T, parse func(string) (T, error)) Field {
	return r.names(name, func() { *to = 0 }, func(text string) error {
		bit, err := parse(text)
		if err != nil {
			return r.Wrong("%v", err)
		}
		*to |= bit
		return nil
	})
}

// names reads a list of strings after it has begun.
func (r *Reader) names(name string, begin func(), take func(string) error) Field {
	list := r.List(name, func() error {
		text, _, err := r.string()
		if err != nil {
			return err
		}
		return take(text)
	})
	return Field{name, func() error {
		begin()
		return list.read()
	}}
}

// Object is a field with an object.
func (r *Reader) Object(name string, known ...Field) Field {
	return Value(name, func() error { return r.Fields(known...) })
}

// Value is a field with an object that read reads, with Fields.
func Value(name string, read func() error) Field { return Field{name, read} }

// List is a field with a list. It calls next at the place of each element, to
// read it.
func (r *Reader) List(name string, next func() error) Field {
	return Field{name, func() error {
		ok, err := r.open('[')
		if !ok || err != nil {
			return err
		}
		for i := 0; r.more(); i++ {
			if err := r.at(step{index: i}, next); err != nil {
				return err
			}
		}
		_, err = r.token()
		return err
	}}
}
