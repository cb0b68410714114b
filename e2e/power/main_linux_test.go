// What the program acknowledged outlasts a power cut, and a disk that fails.
package power_test

import (
	"testing"

	"teamdata/e2e/kit/program"
)

func TestMain(m *testing.M) { program.Main(m) }
