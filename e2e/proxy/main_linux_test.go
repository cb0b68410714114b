// Servers behind nginx and HAProxy, set up as the docs say, and nginx as a receiver.
package proxy_test

import (
	"testing"

	"teamdata/e2e/kit/program"
)

func TestMain(m *testing.M) { program.Main(m) }
