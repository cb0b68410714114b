package boltstore

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/store/boltstore/boltfile"
)

// TestReplaceOnAFullDisk: however much room there is, a whole file is made or
// nothing is, and the old one stays as it was.
func TestReplaceOnAFullDisk(t *testing.T) {
	old, other := wholeFiles(t)
	from := writeCopy(t, other)
	for name, replace := range replacements {
		made, refused := 0, 0
		for room := os.Getpagesize(); made == 0 && room < 1<<28; room *= 2 {
			makes := name == "backup" || name == "hot backup"
			size := room
			if !makes {
				size += len(old)
			}
			path := filepath.Join(kit.SmallDisk(t, fmt.Sprint(size)), "teamdata.db")
			if !makes {
				must(t, os.WriteFile(path, old, boltfile.Mode)) // without a hole
			}
			err := replace(path, from)
			if err == nil {
				made++
				wellKept(t, path)
				continue
			}
			refused++
			saysOneLine(t, err.Error(), "disk")
			if content, rerr := os.ReadFile(path); makes != os.IsNotExist(rerr) || !makes && !bytes.Equal(content, old) {
				t.Errorf("%s with room for %d bytes: %d bytes are there, %v", name, room, len(content), rerr)
			}
			if !makes {
				alone(t, path)
			}
		}
		if refused == 0 || made == 0 {
			t.Errorf("%s: there was room enough after %d refusals: %v", name, refused, made > 0)
		}
	}
}
