package delivery_test

import (
	"os"
	"testing"

	"teamdata/e2e/kit"
)

func TestMain(m *testing.M) {
	kit.MostlyWait()
	os.Exit(m.Run())
}
