package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"

	"teamdata/store"
)

// MaxDepth is how many objects and lists may lie in one another in a raw value.
const MaxDepth = 64

// token is the next token; the input may not end instead.
func (r *Reader) token() (json.Token, error) {
	r.source.begin(r.dec.InputOffset())
	t, err := r.dec.Token()
	if err != nil {
		return nil, r.located(err, 0)
	}
	return t, nil
}

// more reports whether the object or list goes on, or there is more at the end.
func (r *Reader) more() bool {
	r.source.begin(r.dec.InputOffset())
	return r.dec.More()
}

// located is an error of the decoder with its line, if it is about syntax. It
// happened some bytes after the last token.
func (r *Reader) located(err error, after int64) error {
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return r.source.fault(r.dec.InputOffset()+after, "%v", syntax)
	case err == errLongValue:
		return r.Wrong("is longer than %d bytes, which a value may have", maxValue)
	case err == io.EOF && r.dec.InputOffset() == 0:
		return store.Errorf(store.CodeBadRequest, "the input is empty")
	case err == io.EOF, err == io.ErrUnexpectedEOF:
		return r.source.fault(r.source.offset, "the input ends too early")
	}
	return err
}

// end holds the input to ending here.
func (r *Reader) end() error {
	if r.more() {
		return r.source.fault(r.dec.InputOffset(), "there is more after the end")
	}
	if _, err := r.dec.Token(); err != io.EOF {
		return r.located(err, 0)
	}
	return nil
}

// leftOut reports whether a token is null where that stands for a field that is left
// out: an element of a list and a whole document can't be.
func (r *Reader) leftOut(t json.Token) bool {
	return t == nil && len(r.place) > 0 && r.place[len(r.place)-1].name != ""
}

// open reads what begins an object or a list; given is false for null.
func (r *Reader) open(want json.Delim) (given bool, err error) {
	t, err := r.token()
	if err != nil || r.leftOut(t) {
		return false, err
	}
	if t != want {
		return false, r.Wrong("is %s; %s is expected", typeOf(t), typeOf(want))
	}
	return true, nil
}

// string reads a string; given is false for null.
func (r *Reader) string() (text string, given bool, err error) {
	t, err := r.token()
	if err != nil || r.leftOut(t) {
		return "", false, err
	}
	text, given = t.(string)
	if !given {
		err = r.Wrong("is %s; a string is expected", typeOf(t))
	}
	return text, given, err
}

// raw reads any value, in which names are there once; null is nil.
func (r *Reader) raw() ([]byte, error) {
	r.source.begin(r.dec.InputOffset())
	var value json.RawMessage
	if err := r.dec.Decode(&value); err != nil {
		return nil, r.located(err, r.faultInValue())
	}
	if string(value) == "null" {
		return nil, nil
	}
	if depth(value) > MaxDepth {
		return nil, r.Wrong("nests objects or lists to a depth of more than %d", MaxDepth)
	}
	if !mayRepeat(value) {
		return value, nil
	}
	dec := json.NewDecoder(bytes.NewReader(value))
	dec.UseNumber()
	return value, r.unique(dec)
}

// fewNames are as many names of an object as are compared one by one.
const fewNames = 32

// mayRepeat reports whether an object in valid JSON has a name twice, or so many that
// they are to be looked at in another way. It is for the many values that are right.
func mayRepeat(value []byte) bool {
	var names [][]byte // of the objects that are open
	var open []int     // where those of each begin
	for i := 0; i < len(value); i++ {
		switch value[i] {
		case '{', '[':
			open = append(open, len(names))
		case '}', ']':
			names, open = names[:open[len(open)-1]], open[:len(open)-1]
		case '"':
			begin := i + 1
			for i = begin; value[i] != '"'; i++ {
				if value[i] == '\\' {
					i++
				}
			}
			if rest := bytes.TrimLeft(value[i+1:], " \t\r\n"); len(rest) == 0 || rest[0] != ':' {
				continue
			}
			name, siblings := value[begin:i], names[open[len(open)-1]:]
			same := func(other []byte) bool { return bytes.Equal(name, other) }
			if len(siblings) == fewNames || bytes.IndexByte(name, '\\') >= 0 || slices.ContainsFunc(siblings, same) {
				return true
			}
			names = append(names, name)
		}
	}
	return false
}

// unique holds the objects in the next value, which is valid, to names that are
// there once: receivers that take the first and those that take the last would read
// different values.
func (r *Reader) unique(dec *json.Decoder) error {
	t, err := dec.Token()
	if err != nil {
		return err
	}
	next := func() error { return r.unique(dec) }
	switch t {
	case json.Delim('{'):
		err = r.uniqueNames(dec, next)
	case json.Delim('['):
		for i := 0; err == nil && dec.More(); i++ {
			err = r.at(step{index: i}, next)
		}
	default:
		return nil
	}
	if err == nil {
		_, err = dec.Token()
	}
	return err
}

// uniqueNames goes through an object up to its end.
func (r *Reader) uniqueNames(dec *json.Decoder, next func() error) error {
	seen := map[json.Token]bool{}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return err
		}
		text, _ := t.(string)
		name := quoted(text)
		if seen[t] {
			return r.WrongAt(name, "is there twice")
		}
		seen[t] = true
		if err := r.at(step{name: name}, next); err != nil {
			return err
		}
	}
	return nil
}

// faultInValue is where in a value that could not be read the fault is: a
// decoder counts it from where its stream of values began.
func (r *Reader) faultInValue() int64 {
	var syntax *json.SyntaxError
	begun, _ := io.ReadAll(r.dec.Buffered())
	if errors.As(json.Unmarshal(begun, new(json.RawMessage)), &syntax) {
		return max(syntax.Offset-1, 0)
	}
	return 0
}

// depth is the greatest depth of objects and lists in one another.
func depth(value []byte) int {
	depth, deepest, quoted := 0, 0, false
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case quoted:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}

func typeOf(t json.Token) string {
	switch t := t.(type) {
	case nil:
		return "null"
	case bool:
		return "true or false"
	case json.Number:
		return "a number"
	case json.Delim:
		if t == '{' {
			return "an object"
		}
		return "a list"
	}
	return "a string"
}
