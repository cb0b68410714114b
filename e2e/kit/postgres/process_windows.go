package postgres

import (
	"syscall"
	"testing"

	"teamdata/e2e/kit"
)

func apart() (*syscall.SysProcAttr, string) {
	return nil, "these tests know PostgreSQL on Unix only"
}

func newFolder(t testing.TB) string {
	t.Helper()
	_, why := apart()
	kit.MustSkip(t, why)
	return ""
}

func own(testing.TB, string) {}
