package pgstore_test

import (
	"testing"

	"teamdata/e2e/kit"
	"teamdata/store/storetest"
)

// So it is on a database: 10,000 random steps with -size 100.
func TestSignals(t *testing.T) {
	t.Parallel()
	all := databases{owner: t}
	storetest.Signals(t, all.open, kit.Size(300, 10_000))
}
