package postgres

import (
	"os"
	"path/filepath"
	"testing"

	"teamdata/e2e/kit"
)

// A server gets its files whatever became of the archive, and only a good one is used.
func TestInitialize(t *testing.T) {
	folder := newFolder(t)
	t.Setenv("TMPDIR", folder)
	fresh := func() *Server {
		s := newServer(t)
		t.Cleanup(s.close)
		return s
	}
	// initialized returns how initdb has numbered a server.
	initialized := func() string {
		s := fresh()
		s.initialize(t)
		return kit.ReadText(t, filepath.Join(s.data, "global", "pg_control"))[:8]
	}
	if one, next := initialized(), initialized(); one != next {
		t.Error("the second server does not use the archive of the first one")
	}
	archives, err := filepath.Glob(filepath.Join(folder, "*.tar*"))
	if err != nil || len(archives) != 1 {
		t.Fatalf("the archives are %v, %v", archives, err)
	}
	archive := archives[0]
	whole, err := os.Stat(archive)
	kit.Must(t, err)
	for _, damage := range []struct {
		what string
		make func() error
	}{
		{"cut short", func() error { return os.Truncate(archive, whole.Size()/1024*512) }},
		{"empty", func() error { return os.Truncate(archive, 0) }},
		{"gone", func() error { return os.Remove(archive) }},
		{"a link", func() error { return os.Symlink(os.DevNull, archive) }},
	} {
		kit.Must(t, damage.make())
		s := fresh()
		if s.unpack(t, archive) {
			t.Errorf("an archive is used that is %s", damage.what)
		}
		if _, err := os.Stat(s.data); !os.IsNotExist(err) {
			t.Errorf("of an archive that is %s there are files: %v", damage.what, err)
		}
	}
	if one, next := initialized(), initialized(); one != next {
		t.Error("a damaged archive is not made again")
	}
	if os.Geteuid() == 0 { // or nobody else's can be made
		kit.Must(t, os.Chown(archive, 0, 0))
		if fresh().unpack(t, archive) {
			t.Error("somebody else's archive is used")
		}
	}
}
