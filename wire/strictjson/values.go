package strictjson

import (
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"teamdata/internal/canonical"
	"teamdata/store"
)

// The functions of this file make the fields of each type.

// Text is a field with a string.
func (r *Reader) Text(name string, to *string) Field {
	return r.text(name, func(text string) error {
		*to = text
		return nil
	})
}

// OptionalText is a field with a string. Where it is left out, to stays as it is: nil.
func (r *Reader) OptionalText(name string, to **string) Field {
	return r.text(name, func(text string) error {
		*to = &text
		return nil
	})
}

// Time is a field with a time, in the form of [store.ParseTime]. An empty
// string is the zero time.
func (r *Reader) Time(name string, to *time.Time) Field {
	return r.text(name, func(text string) (err error) {
		if *to = (time.Time{}); text == "" {
			return nil
		}
		if *to, err = store.ParseTime(text); err != nil {
			return r.Wrong("%v", err)
		}
		return nil
	})
}

// text is a field with a string, which take takes.
func (r *Reader) text(name string, take func(text string) error) Field {
	return Field{name: name, read: func() (bool, error) {
		text, given, err := r.string()
		if given {
			err = take(text)
		}
		return given, err
	}}
}

// Bool is a field with true or false.
func (r *Reader) Bool(name string, to *bool) Field {
	return Field{name: name, read: func() (bool, error) {
		t, given, err := r.expect("true or false", jsontext.KindTrue, jsontext.KindFalse)
		if given {
			*to = t.Bool()
		}
		return given, err
	}}
}

// Int is a field with a whole number from least to most, however it is written: 2,
// 2.0 and 20e-1 are equal.
func (r *Reader) Int(name string, to *int64, least, most int64) Field {
	return Field{name: name, read: func() (bool, error) {
		t, given, err := r.expect("a whole number", jsontext.KindNumber)
		if !given {
			return false, err
		}
		number := t.String()
		digits, _ := canonical.Integer(number) // none, if it is not whole
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || n < least || n > most {
			return false, r.Wrong("is %.40s; a whole number from %d to %d is expected", number, least, most)
		}
		*to = n
		return true, nil
	}}
}

// Raw is a field with any value, kept as it is written. It may hold objects and
// lists in one another to a depth of MaxDepth.
func (r *Reader) Raw(name string, to *[]byte) Field {
	return Field{name: name, read: func() (bool, error) {
		value, err := r.raw()
		if value != nil {
			*to = value
		}
		return value != nil, err
	}}
}

// Texts is a field with a list of strings. One without any is not nil.
func (r *Reader) Texts(name string, to *[]string) Field {
	return r.names(name, func() { *to = []string{} }, func(text string) error {
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

// names is a list of strings, before which begin is called.
func (r *Reader) names(name string, begin func(), take func(string) error) Field {
	return r.list(name, begin, func() error {
		text, _, err := r.string()
		if err != nil {
			return err
		}
		return take(text)
	})
}

// Object is a field with an object.
func (r *Reader) Object(name string, known ...Field) Field {
	return Field{name: name, read: func() (bool, error) { return r.object(known) }}
}

// List is a field with a list. It calls next at the place of each element, to
// read it.
func (r *Reader) List(name string, next func() error) Field { return r.list(name, func() {}, next) }

func (r *Reader) list(name string, begin func(), next func() error) Field {
	return Field{name: name, read: func() (bool, error) {
		_, given, err := r.expect("a list", jsontext.KindBeginArray)
		if !given {
			return false, err
		}
		begin()
		for i := 0; r.more(); i++ {
			if err := r.at(step{index: i}, next); err != nil {
				return false, err
			}
		}
		_, err = r.token()
		return true, err
	}}
}
