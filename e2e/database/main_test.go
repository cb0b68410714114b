// A server on a database, and whatever becomes of that.
package database_test

import (
	"testing"

	"teamdata/e2e/kit/program"
)

func TestMain(m *testing.M) { program.Main(m) }
