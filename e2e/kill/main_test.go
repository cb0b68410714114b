// Whenever the program is killed, what it acknowledged is there, and is sent.
package kill_test

import (
	"testing"

	"teamdata/e2e/kit/program"
)

func TestMain(m *testing.M) { program.Main(m) }
