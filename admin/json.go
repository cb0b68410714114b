package admin

import (
	"bytes"
	"strconv"
	"time"

	"teamdata/store"
)

// object is a JSON object built field by field.
type object []byte

func newObject() object { return append(make(object, 0, 256), '{') }

func (o object) name(name string) object {
	if len(o) > 1 {
		o = append(o, ',')
	}
	return append(store.AppendJSONString(o, name), ':')
}

func (o object) text(name, value string) object {
	return store.AppendJSONString(o.name(name), value)
}

func (o object) namedTexts(fields []store.NamedText) object {
	for _, f := range fields {
		o = o.text(f.Name, *f.Text)
	}
	return o
}

// nullable writes null for an empty text.
func (o object) nullable(name, value string) object {
	if value == "" {
		return o.raw(name, nil)
	}
	return o.text(name, value)
}

// time writes null for the zero time.
func (o object) time(name string, t time.Time) object {
	if t.IsZero() {
		return o.raw(name, nil)
	}
	return o.text(name, store.FormatTime(t))
}

func (o object) number(name string, n int64) object {
	return strconv.AppendInt(o.name(name), n, 10)
}

// status writes a status of HTTP; null for 0, which is no answer.
func (o object) status(name string, status int) object {
	if status == 0 {
		return o.raw(name, nil)
	}
	return o.number(name, int64(status))
}

func (o object) flag(name string, b bool) object { return strconv.AppendBool(o.name(name), b) }

func (o object) texts(name string, values []string) object {
	return list(o, name, values, func(value string) []byte { return store.AppendJSONString(nil, value) })
}

// raw writes a value that is JSON already; null for none.
func (o object) raw(name string, value []byte) object {
	if value == nil {
		value = []byte("null")
	}
	return append(o.name(name), value...)
}

// joined returns the JSON of records, separated by commas.
func joined[T any](records []T, json func(T) []byte) []byte {
	items := make([][]byte, len(records))
	for i, record := range records {
		items[i] = json(record)
	}
	return bytes.Join(items, []byte{','})
}

// list writes the JSON of records as a list.
func list[T any](o object, name string, records []T, json func(T) []byte) object {
	return append(append(append(o.name(name), '['), joined(records, json)...), ']')
}

func (o object) end() []byte { return append(o, '}') }
