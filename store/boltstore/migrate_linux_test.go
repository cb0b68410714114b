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

// TestMigrateOnAFullDisk: however much room there is, the file is migrated and a
// copy kept, or it is left as it was and nothing beside it.
func TestMigrateOnAFullDisk(t *testing.T) {
	f, _ := oldFile(t)
	old := readFile(t, f.path)
	migrated, refused := 0, 0
	for room := 0; migrated == 0 && room < 16<<20; room += 4 * os.Getpagesize() {
		path := filepath.Join(kit.SmallDisk(t, fmt.Sprint(len(old)+room+os.Getpagesize())), "teamdata.db")
		must(t, os.WriteFile(path, old, boltfile.Mode)) // without a hole
		s, err := Open(path, Options{})
		if err == nil {
			migrated++
			_, kept := s.MigratedFrom()
			must(t, s.Close())
			wellKept(t, path)
			must(t, verify(kept))
			continue
		}
		refused++
		saysOneLine(t, err.Error(), path, "has schema 1", "the disk is full", "make room")
		if now := readFile(t, path); !bytes.Equal(now[:len(old)], old) {
			t.Errorf("with room for %d bytes the file has changed", room)
		}
		alone(t, path)
	}
	if refused < 2 || migrated == 0 {
		t.Errorf("there was room enough after %d refusals: %v", refused, migrated > 0)
	}
}
