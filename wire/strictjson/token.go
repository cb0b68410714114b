package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"teamdata/store"
)

// MaxDepth is how many objects and lists may lie in one another in a raw value.
const MaxDepth = 64

// blank are the characters that may stand between tokens.
const blank = " \t\r\n"

// token is the next token; the input may not end instead.
func (r *Reader) token() (jsontext.Token, error) {
	r.source.begun = r.dec.InputOffset()
	t, err := r.dec.ReadToken()
	return t, r.located(err, false)
}

// more reports whether the object or list goes on, if only with a fault.
func (r *Reader) more() bool {
	r.source.begun = r.dec.InputOffset()
	kind := r.dec.PeekKind()
	return kind != jsontext.KindEndObject && kind != jsontext.KindEndArray
}

// located is an error of the decoder with its place. It is in what follows the last
// token: at the beginning of that, or somewhere in a raw value.
func (r *Reader) located(err error, inRaw bool) error {
	var syntactic *jsontext.SyntacticError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errLongValue):
		return r.Wrong("is longer than %d bytes, which a value may have", maxValue)
	case err == io.EOF && r.dec.InputOffset() == 0:
		return store.Errorf(store.CodeBadRequest, "the input is empty")
	case errors.Is(err, jsontext.ErrDuplicateName) && errors.As(err, &syntactic):
		return r.twice(syntactic, inRaw)
	case err == io.EOF:
		return r.source.fault(r.source.offset, "the input ends too early")
	case errors.As(err, &syntactic):
		return r.syntaxFault(syntactic, inRaw)
	}
	return r.source.err
}

// twice is the error of a name that an object has already, of which receivers that take
// the first value and those that take the last would read different ones.
func (r *Reader) twice(err *jsontext.SyntacticError, inRaw bool) error {
	if !inRaw {
		return r.WrongAt(quoted(err.JSONPointer.LastToken()), "is given twice")
	}
	// The decoder may have moved the names on the way there while it read on. From a buffer
	// it doesn't, and token by token it knows which objects and lists it is in.
	again := jsontext.NewDecoder(bytes.NewBuffer(bytes.TrimLeft(r.dec.UnreadBuffer(), blank+",:")))
	var fault error
	for fault == nil {
		_, fault = again.ReadToken()
	}
	errors.As(fault, &err)
	names := slices.Collect(err.JSONPointer.Tokens())
	at, last := Reader{place: slices.Clone(r.place)}, len(names)-1
	for i, name := range names[:last] {
		s := step{name: quoted(name)}
		if kind, _ := again.StackIndex(i + 1); kind == jsontext.KindBeginArray {
			s.name = ""
			s.index, _ = strconv.Atoi(name)
		}
		at.place = append(at.place, s)
	}
	return at.WrongAt(quoted(names[last]), "is given twice")
}

// syntaxFault words what is wrong as encoding/json does, which says plainly what was
// expected and names the character that was found instead.
func (r *Reader) syntaxFault(err *jsontext.SyntacticError, inRaw bool) error {
	rest, begun := r.dec.UnreadBuffer(), r.dec.InputOffset()
	switch c, size := utf8.DecodeRune(rest[err.ByteOffset-begun:]); {
	case c == utf8.RuneError && size == 1:
		return r.source.fault(err.ByteOffset, "is not valid UTF-8")
	case strings.HasPrefix(err.Err.Error(), "invalid surrogate pair"):
		return r.source.fault(err.ByteOffset, "is half of a surrogate pair")
	case err.Err == io.ErrUnexpectedEOF:
		return r.source.fault(r.source.offset, "the input ends too early")
	}
	before, separator := "", "" // what has encoding/json where the decoder is, and what comes next
	switch kind, length := r.dec.StackIndex(r.dec.StackDepth()); {
	case kind == jsontext.KindBeginArray && length > 0:
		before, separator = `[""`, ","
	case kind == jsontext.KindBeginObject && length%2 == 1:
		before, separator = `{""`, ":"
	case kind == jsontext.KindBeginObject && length > 0:
		before, separator = `{"":""`, ","
	case kind != jsontext.KindInvalid:
		before = string(kind)
	}
	words, at := err.Err, err.ByteOffset
	var syntax *json.SyntaxError
	if errors.As(json.Unmarshal(append([]byte(before), rest...), new(json.RawMessage)), &syntax) {
		words, at = syntax, begun+syntax.Offset-1-int64(len(before))
	}
	if !inRaw {
		next := bytes.TrimLeft(bytes.TrimPrefix(bytes.TrimLeft(rest, blank), []byte(separator)), blank)
		at = begun + int64(len(rest)-len(next))
	}
	return r.source.fault(at, "%v", words)
}

// end holds the input to ending here.
func (r *Reader) end() error {
	more := r.more()
	rest := r.dec.UnreadBuffer()
	found := bytes.TrimLeft(rest, blank)
	if more && len(found) > 0 {
		return r.source.fault(r.dec.InputOffset()+int64(len(rest)-len(found)), "there is more after the end")
	}
	if _, err := r.dec.ReadToken(); err != io.EOF {
		return r.located(err, false)
	}
	return nil
}

// leftOut reports whether a token is null where that stands for a field that is left
// out: an element of a list and a whole document can't be.
func (r *Reader) leftOut(t jsontext.Token) bool {
	return t.Kind() == jsontext.KindNull && len(r.place) > 0 && r.place[len(r.place)-1].name != ""
}

// expect reads a token of a kind; given is false for null.
func (r *Reader) expect(what string, kinds ...jsontext.Kind) (t jsontext.Token, given bool, err error) {
	t, err = r.token()
	if err != nil || r.leftOut(t) {
		return t, false, err
	}
	if !slices.Contains(kinds, t.Kind()) {
		return t, false, r.Wrong("is %s; %s is expected", typeOf(t), what)
	}
	return t, true, nil
}

// string reads a string; given is false for null.
func (r *Reader) string() (text string, given bool, err error) {
	t, given, err := r.expect("a string", jsontext.KindString)
	if given {
		text = t.String()
	}
	return text, given, err
}

// raw reads any value; null is nil.
func (r *Reader) raw() ([]byte, error) {
	r.source.begun = r.dec.InputOffset()
	value, err := r.dec.ReadValue()
	switch {
	case err != nil:
		return nil, r.located(err, true)
	case value.Kind() == jsontext.KindNull:
		return nil, nil
	case depth(value) > MaxDepth:
		return nil, r.Wrong("nests objects or lists to a depth of more than %d", MaxDepth)
	}
	return bytes.Clone(value), nil
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

func typeOf(t jsontext.Token) string {
	switch t.Kind() {
	case jsontext.KindNull:
		return "null"
	case jsontext.KindTrue, jsontext.KindFalse:
		return "true or false"
	case jsontext.KindNumber:
		return "a number"
	case jsontext.KindBeginObject:
		return "an object"
	case jsontext.KindBeginArray:
		return "a list"
	}
	return "a string"
}
