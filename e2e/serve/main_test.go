// One server: how it listens, what it says of itself, and what it does when it is short of something.
package serve_test

import (
	"testing"

	"teamdata/e2e/kit/program"
)

func TestMain(m *testing.M) { program.Main(m) }
