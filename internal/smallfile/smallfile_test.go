package smallfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file of the largest size is read whole, and a longer one is refused, also one that
// does not end.
func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, size := range []int{0, 1, Max, Max + 1} {
		if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
		content, err := Read(path)
		if size <= Max && (err != nil || len(content) != size) {
			t.Errorf("of %d bytes it read %d, %v", size, len(content), err)
		}
		if want := path + ": it has more than 4 MiB"; size > Max && (err == nil || !strings.HasSuffix(err.Error(), want)) {
			t.Errorf("of %d bytes: %v", size, err)
		}
	}
	if _, err := os.Stat("/dev/zero"); err != nil {
		t.Skip("there is no file without an end here")
	}
	for name, read := range map[string]func() error{
		"a file":        func() error { _, err := Read("/dev/zero"); return err },
		"a certificate": func() error { _, err := KeyPair("/dev/zero", path); return err },
		"a key":         func() error { _, err := KeyPair(os.DevNull, "/dev/zero"); return err },
	} {
		if err := read(); err == nil || err.Error() != "read /dev/zero: it has more than 4 MiB" {
			t.Errorf("%s that does not end: %v", name, err)
		}
	}
}
