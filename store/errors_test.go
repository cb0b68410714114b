package store_test

import (
	"errors"
	"fmt"
	"testing"

	"teamdata/internal/hint"
	"teamdata/store"
)

func TestHintOfAnError(t *testing.T) {
	const unavailable = "The storage can't be used right now. Try again later.: a"
	for _, test := range []struct {
		err               error
		whole, text, hint string
	}{
		{store.Invalid("url", "a; b").Advise("c; %d", 1), "url: a; b; c; 1", "url: a; b", "c; 1"},
		{fmt.Errorf("seed: %w", store.Errorf(store.CodeConflict, "A. B.").Advise("C.")), "seed: A. B. C.", "seed: A. B.", "C."},
		{store.Errorf(store.CodeConflict, "A. B."), "A. B.", "A. B.", ""},
		{store.Unavailable(hint.New("a", "b")), unavailable + "; b", unavailable, "b"},
		{store.Unavailable(errors.New("a")), unavailable, unavailable, ""},
	} {
		text, advice := hint.Split(test.err)
		if test.err.Error() != test.whole || text != test.text || advice != test.hint {
			t.Errorf("%q is parted into %q and %q", test.err, text, advice)
		}
	}
}
