package smallfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file of the largest size is read whole, and of a longer one no more than that.
func TestRead(t *testing.T) {
	folder := t.TempDir()
	file := func(size int64) string {
		path := filepath.Join(folder, "file")
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, size := range []int64{0, 1, Max} {
		if content, err := Read(file(size)); err != nil || int64(len(content)) != size {
			t.Errorf("of %d bytes it read %d, %v", size, len(content), err)
		}
	}
	for _, size := range []int64{Max + 1, 100 * Max} {
		path := file(size)
		for name, read := range map[string]func() (int, error){
			"a file":        func() (int, error) { content, err := Read(path); return len(content), err },
			"a certificate": func() (int, error) { _, err := KeyPair(path, os.DevNull); return 0, err },
			"a key":         func() (int, error) { _, err := KeyPair(os.DevNull, path); return 0, err },
		} {
			if n, err := read(); err == nil || !strings.HasSuffix(err.Error(), path+": it has more than 4 MiB") || n > Max+1 {
				t.Errorf("%s of %d bytes: read %d, %v", name, size, n, err)
			}
		}
	}
}
