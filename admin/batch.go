package admin

import (
	"strconv"

	"teamdata/store"
	"teamdata/wire/strictjson"
)

// maxPlaces is the maximum length of a batch's list.
const maxPlaces = 1000

// readBatch reads a body with a list of 1 to maxPlaces records, and maybe other fields.
// All records are read into one, whose fields are made once.
func readBatch[T any](r *request, list string, others ...strictjson.Field) (batch []T) {
	var record T
	fields := r.in.Struct(&record)
	places := r.in.List(list, func() error {
		if len(batch) == maxPlaces {
			return store.Invalid(list, "has more than %d %s", maxPlaces, list).Advise("send the rest in another batch")
		}
		record = *new(T)
		err := r.in.Fields(fields...)
		batch = append(batch, record)
		return err
	})
	r.read(append(others, places)...)
	if r.bodyErr == nil && len(batch) == 0 {
		r.bodyErr = store.Invalid(list, "is missing or empty").Advise("a batch has 1 to %d %s", maxPlaces, list)
	}
	return batch
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
