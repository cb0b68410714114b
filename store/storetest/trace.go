package storetest

import (
	"fmt"
	"time"

	"teamdata/store"
)

// trace is what an engine chose by itself in one transaction: its time, ids,
// positions in lists and endpoint numbers. An oracle that runs the same rules
// is given the same.
type trace struct {
	now       time.Time
	ids       []string
	positions []store.Cursor
	numbers   []uint64
}

// take removes and returns the first of what is left of a trace.
func take[T any](from *[]T, what string) T {
	if len(*from) == 0 {
		panic(fmt.Sprintf("the oracle asks for a %s more than the engine gave", what))
	}
	first := (*from)[0]
	*from = (*from)[1:]
	return first
}
