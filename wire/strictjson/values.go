package strictjson

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"teamdata/internal/canonical"
	"teamdata/store"
)

// Value is a field whose value is of the type that to points at: a string, a bool, a
// whole number, a time in the form of [store.ParseTime] or an empty text for none, any
// JSON as []byte, a struct as [Reader.Struct] reads it, a list of one of these or a map of
// names to them, which is not nil, or a pointer to one of these.
func (r *Reader) Value(name string, to any) Field {
	return r.fieldOf(name, "", reflect.ValueOf(to).Elem())
}

// Int is a field with a whole number from least to most.
func (r *Reader) Int(name string, to *int, least, most int) Field {
	return r.fieldOf(name, reflect.StructTag(fmt.Sprintf(`range:"%d,%d"`, least, most)), reflect.ValueOf(to).Elem())
}

// Struct returns the fields of the struct that to points at, by their tags `json`. A
// whole number lies in the bounds of the tag `range:"<least>,<most>"`. With a tag `null`,
// null does not count as left out: with `null:"clears"` it makes a pointer point at the
// empty value, and with any other it leaves the field alone. The required fields are
// given as pairs of a name and the advice for [Required].
func (r *Reader) Struct(to any, required ...string) []Field {
	v := reflect.ValueOf(to).Elem()
	fields := make([]Field, v.NumField())
	for i := range fields {
		tag := v.Type().Field(i).Tag
		name, _, _ := strings.Cut(tag.Get("json"), ",")
		fields[i] = r.fieldOf(name, tag, v.Field(i))
		if at := slices.Index(required, name); at >= 0 {
			fields[i] = Required(fields[i], required[at+1])
		}
	}
	return fields
}

func (r *Reader) fieldOf(name string, tag reflect.StructTag, v reflect.Value) Field {
	return Field{name: name, read: func() (given bool, err error) {
		given, err = r.value(v, tag.Get("range"))
		null, isValue := tag.Lookup("null")
		if !given && null == "clears" && err == nil {
			v.Set(reflect.New(v.Type().Elem()))
		}
		return given || isValue, err
	}}
}

// value reads a value of v's type; given is false for null.
func (r *Reader) value(v reflect.Value, bounds string) (given bool, err error) {
	switch to := v.Addr().Interface().(type) {
	case *time.Time:
		return r.time(to)
	case *[]byte:
		value, err := r.raw()
		if value != nil {
			*to = value
		}
		return value != nil, err
	}
	switch v.Kind() {
	case reflect.Pointer:
		to := reflect.New(v.Type().Elem())
		if given, err = r.value(to.Elem(), bounds); given {
			v.Set(to)
		}
		return given, err
	case reflect.Bool:
		t, given, err := r.expect("true or false", jsontext.KindTrue, jsontext.KindFalse)
		if given {
			v.SetBool(t.Bool())
		}
		return given, err
	case reflect.Int, reflect.Int64:
		return r.int(v, bounds)
	case reflect.Struct:
		return r.object(r.Struct(v.Addr().Interface()))
	case reflect.Slice:
		return r.slice(v)
	case reflect.Map:
		return r.mapOf(v)
	}
	text, given, err := r.string()
	if given {
		v.SetString(text)
	}
	return given, err
}

func (r *Reader) time(to *time.Time) (given bool, err error) {
	text, given, err := r.string()
	if !given {
		return given, err
	}
	if *to = (time.Time{}); text != "" {
		if *to, err = store.ParseTime(text); err != nil {
			err = r.Wrong("%v", err)
		}
	}
	return true, err
}

// int reads a whole number, however it is written: 2, 2.0 and 20e-1 are equal.
func (r *Reader) int(v reflect.Value, bounds string) (given bool, err error) {
	t, given, err := r.expect("a whole number", jsontext.KindNumber)
	if !given {
		return false, err
	}
	number := t.String()
	digits, _ := canonical.Integer(number) // none, if it is not whole
	n, err := strconv.ParseInt(digits, 10, 64)
	var least, most int64
	if _, errScan := fmt.Sscanf(bounds, "%d,%d", &least, &most); err != nil || errScan != nil || n < least || n > most || v.OverflowInt(n) {
		return false, r.Wrong("is %.40s; a whole number from %d to %d is expected", number, least, most)
	}
	v.SetInt(n)
	return true, nil
}

func (r *Reader) slice(v reflect.Value) (given bool, err error) {
	item := reflect.New(v.Type().Elem()).Elem()
	items := reflect.MakeSlice(v.Type(), 0, 0)
	given, err = r.list(func() error {
		item.SetZero()
		_, err := r.value(item, "")
		items = reflect.Append(items, item)
		return err
	})
	if given {
		v.Set(items)
	}
	return given, err
}

// mapOf reads an object whose names are the caller's own.
func (r *Reader) mapOf(v reflect.Value) (given bool, err error) {
	if _, given, err = r.expect("an object", jsontext.KindBeginObject); !given {
		return false, err
	}
	v.Set(reflect.MakeMap(v.Type()))
	for r.more() {
		name, _, err := r.string()
		if err != nil {
			return false, err
		}
		value := reflect.New(v.Type().Elem()).Elem()
		err = r.at(step{name: quoted(name)}, func() error {
			_, err := r.value(value, "")
			return err
		})
		if err != nil {
			return false, err
		}
		v.SetMapIndex(reflect.ValueOf(name), value)
	}
	_, err = r.token()
	return true, err
}

// Set is a field with a list of names for the bits of a set.
func Set[T ~uint8](r *Reader, name string, to *T, parse func(string) (T, error)) Field {
	return Field{name: name, read: func() (bool, error) {
		var set T
		given, err := r.list(func() error {
			text, _, err := r.string()
			if err != nil {
				return err
			}
			bit, err := parse(text)
			if err != nil {
				return r.Wrong("%v", err)
			}
			set |= bit
			return nil
		})
		if given {
			*to = set
		}
		return given, err
	}}
}

// Object is a field with an object.
func (r *Reader) Object(name string, known ...Field) Field {
	return Field{name: name, read: func() (bool, error) { return r.object(known) }}
}

// List is a field with a list. It calls next at the place of each element, to
// read it.
func (r *Reader) List(name string, next func() error) Field {
	return Field{name: name, read: func() (bool, error) { return r.list(next) }}
}

func (r *Reader) list(next func() error) (given bool, err error) {
	if _, given, err = r.expect("a list", jsontext.KindBeginArray); !given {
		return false, err
	}
	for i := 0; r.more(); i++ {
		if err := r.at(step{index: i}, next); err != nil {
			return false, err
		}
	}
	_, err = r.token()
	return true, err
}
