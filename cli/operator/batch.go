package operator

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"teamdata/internal/hint"
)

// maxBatch is the maximum length of a batch's list.
const maxBatch = 1000

// batches numbers the requests of a command that sends a file in several.
type batches struct {
	*session
	key  string // the Idempotency-Key of the command, from which each batch's is made
	sent int
}

func (s *session) batches() batches { return batches{session: s, key: s.idempotencyKey} }

// send sends the next batch, and reads the JSON of its answer.
func (b *batches) send(o operation, body object, to any) (json.RawMessage, error) {
	b.sent++
	if b.key != "" {
		b.idempotencyKey = fmt.Sprintf("%s-%d", b.key, b.sent)
	}
	return b.read(o, body, to)
}

var batchPlace = regexp.MustCompile(`^\w+\[(\d+)\](?:\.(\w+)\b)?`)

// errorInFile names, in an error about one place of a batch, where that is in the file.
// in gets the place, and the field that is wrong, if it is one.
func errorInFile(err error, in func(place int, field string) string) error {
	text, advice := hint.Split(err)
	found := batchPlace.FindStringSubmatch(text)
	if found == nil {
		return err
	}
	place, numberErr := strconv.Atoi(found[1])
	if numberErr != nil || place >= maxBatch {
		return err
	}
	err = errors.New(in(place, found[2]) + text[len(found[0]):])
	if advice == "" {
		return err
	}
	return hint.With(err, advice)
}
