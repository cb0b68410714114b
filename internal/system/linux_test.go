//go:build linux

package system

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

// The limit is the least of a process's control group and of those around it.
func TestGroupMemory(t *testing.T) {
	for membership, files := range map[string]map[string]string{
		"0::/a.slice/b.service\n":               {"a.slice/memory.max": "300\n", "a.slice/b.service/memory.max": "max\n"},
		"0::/a.slice/c.service\n":               {"a.slice/memory.max": "500\n", "a.slice/c.service/memory.max": "300\n"},
		"0::/\n":                                {"memory.max": "300\n"}, // in a container
		"0::/../elsewhere\n":                    {"memory.max": "300\n"},
		"5:cpu,cpuacct:/d\n4:memory:/d\n0::/\n": {"memory/d/memory.limit_in_bytes": "300\n", "memory/memory.limit_in_bytes": "9223372036854771712\n"},
	} {
		root := t.TempDir()
		for name, text := range files {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		file := filepath.Join(t.TempDir(), "cgroup")
		if err := os.WriteFile(file, []byte(membership), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := groupMemory(file, root); got != 300 {
			t.Errorf("%q: %d", membership, got)
		}
	}
	if got := groupMemory("no file", t.TempDir()); got != math.MaxUint64 {
		t.Errorf("without a group: %d", got)
	}
	if most, known := MemoryLimit(); !known || most < 1<<20 {
		t.Errorf("this process may have %d bytes, %t", most, known)
	}
}
