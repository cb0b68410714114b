package boltstore_test

import (
	"testing"

	"teamdata/e2e/kit"
	"teamdata/store/storetest"
)

// Every signal that should come comes, once, and no other: 10,000 random steps with -size 100.
func TestSignals(t *testing.T) {
	t.Parallel()
	storetest.Signals(t, opener(nil), kit.Size(4_000, 10_000))
}
