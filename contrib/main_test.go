package contrib_test

import (
	"testing"

	"teamdata/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }
