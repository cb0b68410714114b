// The settings page, for people with a browser: also without scripts, and by mail.
package page_test

import (
	"testing"

	"teamdata/e2e/kit/program"
)

func TestMain(m *testing.M) { program.Main(m) }
