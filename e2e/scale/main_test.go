// What is promised of much data: lists, batches, deletions, and the way to another engine.
package scale_test

import (
	"testing"

	"teamdata/e2e/kit/program"
)

func TestMain(m *testing.M) { program.Main(m) }
