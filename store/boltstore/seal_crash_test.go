//go:build unix

package boltstore

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func init() { childRoles["seal"] = childSeals }

// dyingSealer kills its process, as kill -9 does, in place of its nth Seal.
type dyingSealer struct {
	Sealer
	left *int
}

func (s dyingSealer) Seal(plain, place []byte) []byte {
	if *s.left--; *s.left == 0 {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	return s.Sealer.Seal(plain, place)
}

// plainSealer stands in for the cipher: the file is not to see it.
type plainSealer struct{}

func (plainSealer) Seal(plain, _ []byte) []byte           { return bytes.Clone(plain) }
func (plainSealer) Open(sealed, _ []byte) ([]byte, error) { return bytes.Clone(sealed), nil }

func childSeals(args []string) error {
	left, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	s, err := Open(args[0], Options{Sealer: dyingSealer{plainSealer{}, &left}})
	if err != nil {
		return err
	}
	return s.Close()
}

// TestCrashWhileSealing kills the process at each value that it seals, the last
// of which is the mark: the file is still the old one.
func TestCrashWhileSealing(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	f.addSecrets()
	f.close()
	before := readFile(t, f.path)
	const values = 4 + 2 + 1 + 1 // three endpoints, one with an old secret; certificates; a password; the mark
	for n := 1; n <= values; n++ {
		err := newChild(t, "seal", f.path, strconv.Itoa(n)).Run()
		if err == nil || !strings.Contains(err.Error(), "killed") {
			t.Fatalf("at value %d: the child was to be killed, and ended with %v", n, err)
		}
		if !bytes.Equal(before, readFile(t, f.path)) {
			t.Fatalf("killed at value %d, the file has changed", n)
		}
	}
	must(t, newChild(t, "seal", f.path, strconv.Itoa(values+1)).Run())
	refuses(t, f.path, "is sealed")
	writeFile(t, f.path, before)
	f.open(Options{})
	f.hasSecrets()
}
