package admin

import (
	"net/http"
	"regexp"
	"strings"

	"teamdata/client/admin/api"
	"teamdata/store"
)

func (r *request) readInstructions() error {
	return r.view(func(tx store.Tx) (store.Answer, error) {
		a, etag, err := r.tagged(tx)
		return r.Tagged(a, etag), err
	})
}

// tagged answers the org's instructions, with their ETag.
func (r *request) tagged(tx store.Tx) (a store.Answer, etag string, err error) {
	i, err := tx.Instructions(r.org())
	return ok(i.AppendJSON(nil)), `"` + i.Version() + `"`, err
}

func (r *request) putInstructions() error {
	text := decode[api.InstructionsChange](r, "instructions", "null clears them").Instructions
	if r.bodyErr != nil {
		return r.bodyErr
	}
	return r.setInstructions(text, func(tx store.Tx) (store.Answer, error) {
		a, etag, err := r.tagged(tx)
		r.W.Header()["ETag"] = []string{etag}
		return a, err
	})
}

func (r *request) clearInstructions() error {
	return r.setInstructions(nil, func(store.Tx) (store.Answer, error) { return noContent, nil })
}

// setInstructions sets the instructions, or with nil clears them, if their state is the
// expected one.
func (r *request) setInstructions(text *string, answer transaction) error {
	expected, err := ifMatch(r.HTTP.Header)
	if err != nil {
		return err
	}
	return r.update(func(tx store.Tx) (store.Answer, error) {
		if expected != nil {
			if err := store.CheckInstructions(tx, r.org(), expected); err != nil {
				return store.Answer{}, err
			}
		}
		if err := store.SetInstructions(tx, r.actor, r.org(), orZero(text), text != nil); err != nil {
			return store.Answer{}, err
		}
		return answer(tx)
	})
}

// ifMatch reads the versions in the entity tags of the header If-Match. It is nil
// without the header, and for `*`, which any state matches. A weak tag matches
// nothing.
func ifMatch(h http.Header) (versions []string, err error) {
	list := strings.Trim(strings.Join(h["If-Match"], ","), " \t")
	switch {
	case len(h["If-Match"]) == 0 || list == "*":
		return nil, nil
	case !entityTags.MatchString(list):
		return nil, errIfMatch
	}
	for _, tag := range entityTag.FindAllString(list, -1) {
		versions = append(versions, strings.Trim(tag, `"`))
	}
	return versions, nil
}

// entityTag is one entity tag, and entityTags a list of at least one.
var (
	entityTag  = regexp.MustCompile(`(W/)?"[^"]*"`)
	entityTags = regexp.MustCompile(`^[, \t]*(` + entityTag.String() + `[ \t]*(,[, \t]*|$))+$`)
)

var errIfMatch = store.Invalid("If-Match", `must be * or the ETag of an earlier answer, with its quotes, or several of them with commas between`)
