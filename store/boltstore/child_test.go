package boltstore

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"

	"teamdata/e2e/kit"
)

// childRole says, in the environment of a child process, what it is to do
// instead of running the tests. Its arguments follow on the command line.
const childRole = "BOLTSTORE_TEST_CHILD"

// noWait lets a child that was built with -race end at once, and not after the
// second that its detector waits for goroutines still at work: there are none.
const noWait = "GORACE=atexit_sleep_ms=0"

var childRoles = map[string]func(args []string) error{
	"hold":  childHolds,
	"rule":  childRules,
	"write": childWrites,
}

func TestMain(m *testing.M) {
	role, isChild := os.LookupEnv(childRole)
	if !isChild {
		kit.MostlyWait() // for disks
		os.Exit(m.Run())
	}
	if err := childRoles[role](os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func newChild(t *testing.T, role string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), childRole+"="+role, noWait)
	cmd.Stderr = os.Stderr
	return cmd
}

// childHolds keeps a file open until its standard input ends.
func childHolds(args []string) error {
	s, err := Open(args[0], Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	fmt.Println("open")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// holdInChild returns the process id of a child that has the file open.
func holdInChild(t *testing.T, path string) int {
	t.Helper()
	cmd := newChild(t, "hold", path)
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "open\n" {
		t.Fatalf("the child said %q: %v", line, err)
	}
	return cmd.Process.Pid
}
