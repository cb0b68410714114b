// Package strictjson reads JSON of a known form as a stream, and says of what
// is wrong where it is: `orgs[0].members[3].role: is a number; a string is
// expected`. Fixtures and the bodies of requests are read with it:
//
//	var body api.NewEndpoint
//	r := strictjson.New(in, 64<<10)
//	err := r.Document(r.Struct(&body)...)
//
// or, where the values are elsewhere or too many to be in memory, field by field:
//
//	err := r.Document(
//		r.Value("name", &e.Name),
//		strictjson.Required(r.Value("disabled", &disabled), "it is true or false"),
//		r.Object("owner",
//			r.Value("name", &e.Owner.Name),
//		),
//		r.List("members", func() error {
//			var m store.Member
//			err := r.Fields(r.Value("userId", &m.UserID), r.Value("createdAt", &m.CreatedAt))
//			members = append(members, m)
//			return err
//		}),
//	)
//
// An object has known fields, each at most once, in any order; an unknown one is
// rejected with a suggestion for a misspelt name. A field that is left out leaves its
// value alone, unless it is [Required]. Null counts as left out, unless a tag of the
// struct has it otherwise; as an element of a list it is rejected. Whether a value makes
// sense is for the rules of package store.
//
// What is wrong is a [store.Error] whose Field is the place, or line and column
// where the input is not JSON. A fault of the input itself comes through as it is.
package strictjson

import (
	"errors"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"teamdata/store"
)

// Reader reads values of known types, and knows the place of the value that it
// reads.
type Reader struct {
	source *source
	dec    *jsontext.Decoder
	place  []step // on the way to the value
}

// step is a field's name, or with none the index of an element of a list.
type step struct {
	name  string
	index int
}

// New returns a reader of one JSON document of at most limit bytes. One that is
// larger is payloadTooLarge.
func New(in io.Reader, limit int64) *Reader {
	src := newSource(in, limit)
	return &Reader{source: src, dec: jsontext.NewDecoder(src)}
}

// Document reads the whole input: an object, with nothing after it. That a field is
// missing is said last, after all that is wrong with the input's form.
func (r *Reader) Document(known ...Field) error {
	values, err := r.values(known)
	if err == nil {
		err = r.end()
	}
	if err == nil {
		err = r.missing(known, values)
	}
	return err
}

// Offset counts the bytes of the input that were read.
func (r *Reader) Offset() int64 { return r.dec.InputOffset() }

// Place is where the reader is, such as orgs[0].members[3]; empty at the top.
func (r *Reader) Place() string {
	var place []byte
	for _, s := range r.place {
		if s.name == "" {
			place = append(strconv.AppendInt(append(place, '['), int64(s.index), 10), ']')
			continue
		}
		if len(place) > 0 {
			place = append(place, '.')
		}
		place = append(place, s.name...)
	}
	return string(place)
}

// Wrong is an error at the reader's place.
func (r *Reader) Wrong(format string, args ...any) *store.Error {
	return store.Invalid(r.Place(), format, args...)
}

// WrongAt is an error at a field of the object that was read last.
func (r *Reader) WrongAt(field, format string, args ...any) *store.Error {
	if place := r.Place(); place != "" {
		field = place + "." + field
	}
	return store.Invalid(field, format, args...)
}

// Inside puts a place before the field that an error names. A fault of the
// storage has nothing to do with the place and stays as it is.
func Inside(place string, err error) error {
	var e *store.Error
	if !errors.As(err, &e) || e.Code == store.CodeUnavailable || place == "" {
		return err
	}
	placed := *e
	if placed.Field = place; e.Field != "" {
		placed.Field += "." + e.Field
	}
	return &placed
}

// at reads the value one level deeper.
func (r *Reader) at(s step, read func() error) error {
	r.place = append(r.place, s)
	err := read()
	r.place = r.place[:len(r.place)-1]
	return err
}
