package pgtest

import (
	"syscall"
	"testing"

	"teamdata/internal/testkit"
)

func apart() (*syscall.SysProcAttr, string) {
	return nil, "these tests know PostgreSQL on Unix only"
}

func newFolder(t testing.TB) string {
	t.Helper()
	_, why := apart()
	testkit.MustSkip(t, why)
	return ""
}

func own(testing.TB, string) {}
