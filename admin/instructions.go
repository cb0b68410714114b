package admin

import (
	"net/http"
	"strings"

	"teamdata/internal/strictjson"
	"teamdata/store"
)

func (x *exchange) readInstructions() error {
	return x.read(func(tx store.Tx) (store.Answer, error) {
		return x.tagged(tx)
	})
}

// tagged answers the org's instructions, with their ETag.
func (x *exchange) tagged(tx store.InstructionsTx) (store.Answer, error) {
	i, err := tx.Instructions(x.org())
	if err != nil {
		return store.Answer{}, err
	}
	x.w.Header()["ETag"] = []string{`"` + i.Version() + `"`}
	return ok(i.AppendJSON(nil)), nil
}

func (x *exchange) putInstructions() error {
	var text string
	var given, set bool
	if err := x.in.Document(strictjson.Given(&given, x.in.NullableText("instructions", &text, &set))); err != nil {
		return err
	}
	if !given {
		return store.Invalid("instructions", "is missing; null clears them")
	}
	return x.setInstructions(text, set, x.tagged)
}

func (x *exchange) clearInstructions() error {
	return x.setInstructions("", false, func(store.InstructionsTx) (store.Answer, error) { return gone, nil })
}

// setInstructions sets or clears the instructions, if they are in the state that
// the request expects.
func (x *exchange) setInstructions(text string, set bool, answer func(store.InstructionsTx) (store.Answer, error)) error {
	expected, err := ifMatch(x.r.Header)
	if err != nil {
		return err
	}
	return x.change(func(tx store.Tx) (store.Answer, error) {
		if expected != nil {
			if err := store.CheckInstructions(tx, x.org(), expected); err != nil {
				return store.Answer{}, err
			}
		}
		if err := store.SetInstructions(tx, x.actor, x.org(), text, set); err != nil {
			return store.Answer{}, err
		}
		return answer(tx)
	})
}

// ifMatch reads the header If-Match: the versions in its entity tags. nil when it
// is not there, or is `*`, which any state matches. A weak tag matches nothing.
func ifMatch(h http.Header) (versions []string, err error) {
	values := h["If-Match"]
	if len(values) == 0 {
		return nil, nil
	}
	rest := strings.Trim(strings.Join(values, ","), " \t")
	if rest == "*" {
		return nil, nil
	}
	versions = []string{}
	for rest = strings.TrimLeft(rest, ", \t"); rest != ""; rest = strings.TrimLeft(rest, ", \t") {
		var tag string
		if tag, rest, err = cutTag(rest); err != nil {
			return nil, err
		}
		versions = append(versions, strings.Trim(tag, `"`))
	}
	if len(versions) == 0 {
		return nil, errIfMatch
	}
	return versions, nil
}

var errIfMatch = store.Invalid("If-Match", `must be * or the ETag of an earlier answer, with its quotes, or several of them with commas between`)

// cutTag cuts the entity tag off that a list begins with.
func cutTag(list string) (tag, rest string, err error) {
	opening := strings.TrimPrefix(list, "W/")
	if !strings.HasPrefix(opening, `"`) {
		return "", "", errIfMatch
	}
	end := strings.IndexByte(opening[1:], '"')
	if end < 0 {
		return "", "", errIfMatch
	}
	length := len(list) - len(opening) + end + 2
	tag, rest = list[:length], strings.TrimLeft(list[length:], " \t")
	if rest != "" && rest[0] != ',' {
		return "", "", errIfMatch
	}
	return tag, rest, nil
}
