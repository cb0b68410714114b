// Servers behind nginx and HAProxy, set up as the docs say.
package proxy_test

import (
	"testing"

	"teamdata/e2e/kit/program"
)

func TestMain(m *testing.M) { program.Main(m) }
