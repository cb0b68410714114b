package store

import (
	"testing"
	"time"
)

// Each state has a version of its own, also the same text at another time.
func TestInstructionsVersion(t *testing.T) {
	at := time.Date(2026, 10, 6, 12, 0, 0, 0, time.UTC)
	seen := map[string]Instructions{}
	for _, i := range []Instructions{
		{}, {UpdatedAt: at}, {Set: true, UpdatedAt: at}, {Set: true, Text: "null", UpdatedAt: at}, {Set: true, Text: "a", UpdatedAt: at},
		{Set: true, Text: "a\n", UpdatedAt: at}, {Set: true, Text: "a\r\n", UpdatedAt: at}, {Set: true, Text: "a", UpdatedAt: at.Add(time.Millisecond)},
	} {
		if other, ok := seen[i.Version()]; ok || len(i.Version()) != 32 {
			t.Errorf("%+v has the version %q of %+v", i, i.Version(), other)
		}
		seen[i.Version()] = i
	}
}
