package admin

import (
	"strconv"

	"teamdata/store"
	"teamdata/wire/strictjson"
)

// maxPlaces is the maximum length of a batch's list.
const maxPlaces = 1000

// readBatch reads a body with a list of 1 to maxPlaces records, each with next, and
// maybe other fields.
func (r *request) readBatch(list string, next func() error, others ...strictjson.Field) error {
	n := 0
	places := r.in.List(list, func() error {
		if n++; n > maxPlaces {
			return store.Invalid(list, "has more than %d %s", maxPlaces, list).Advise("send the rest in another batch")
		}
		return next()
	})
	err := r.in.Document(append(others, places)...)
	if err == nil && n == 0 {
		err = store.Invalid(list, "is missing or empty").Advise("a batch has 1 to %d %s", maxPlaces, list)
	}
	return err
}

// eachPlace does what a batch asks for at each place of its list, and returns what
// came of it, in that order. An error names its place, unless list is empty.
func eachPlace[T, Done any](list string, places []T, do func(i int, place T) (Done, error)) ([]Done, error) {
	all := make([]Done, len(places))
	for i, place := range places {
		done, err := do(i, place)
		if err != nil {
			return nil, atPlace(list, i, err)
		}
		all[i] = done
	}
	return all, nil
}

// atPlace names the place of a list in an error, unless list is empty.
func atPlace(list string, i int, err error) error {
	if err == nil || list == "" {
		return err
	}
	return strictjson.Inside(list+"["+strconv.Itoa(i)+"]", err)
}
