package program

import (
	"os/exec"
	"regexp"
	"testing"
)

// Refused runs the program, which is to end with a status and to print nothing but an error
// that matches: one line, with its hint behind a semicolon. It returns that.
func Refused(t testing.TB, status int, want string, args ...string) (message string) {
	t.Helper()
	out, err := Run(t, args...)
	failed, ended := err.(*exec.ExitError)
	message, alone := ErrorOf(out)
	if !ended || failed.ExitCode() != status || !alone || !regexp.MustCompile("^teamdata: .*"+want).MatchString(message) {
		t.Errorf("teamdata %v ended with %v, not with %d and %q:\n%s", args, err, status, want, out)
	}
	return message
}
