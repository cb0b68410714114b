package listen

import (
	"testing"

	"teamdata/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }
