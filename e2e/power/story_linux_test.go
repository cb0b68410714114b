package power_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"teamdata/app"
	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
	"teamdata/store/boltstore"
)

// Files of the folder in which the story takes place.
const (
	dataName   = "teamdata.db"
	onlineName = "online.db"  // a backup from the running server
	coldName   = "offline.db" // one from the file
	backupDir  = "backups"
	keptInfix  = ".before-restore-"
)

// The phases of the story, in their order: a server on a file that is new, an import,
// a server under load, and so on.
const (
	phaseStart   = "start"
	phaseImport  = "import"
	phaseServe   = "serve"
	phaseCompact = "compact"
	phaseBackup  = "backup"
	phaseOffline = "offline"
	phaseRestore = "restore"
	phaseSeal    = "seal"
)

var phases = []string{phaseStart, phaseImport, phaseServe, phaseCompact, phaseBackup, phaseOffline, phaseRestore, phaseSeal}

// story is what was recorded, and what is known of it.
type story struct {
	t    *testing.T
	r    *recording
	load *load
	key  string // of the seal
	ops  []diskOp
	log  []string // the audit log in the end

	searches int // states in which a start has to search for free pages

	online             [2]time.Time         // when the backup from the server began and had ended
	sealed             time.Time            // when the server with the key was ready
	ended              map[string]time.Time // when a phase had
	before, afterwards map[string]string    // a phase, the data file's fingerprint
}

func newStory(t *testing.T, requests int, random *rand.Rand) *story {
	r := newRecording(t)
	data := r.path(dataName)
	s := &story{
		t: t, r: r, load: newLoad(t, data), key: kit.SealKey(t, t.TempDir()),
		ended: map[string]time.Time{}, before: map[string]string{}, afterwards: map[string]string{},
	}
	kit.Must(t, os.Mkdir(s.r.path(backupDir), 0o700))
	seed := kit.NewFile(t, "seed.json", s.load.seed())

	p := s.r.serve(phaseStart)
	program.MustRun(t, "org", "create", "--name", "First", "--data", data)
	s.ended[phaseStart] = time.Now()
	s.stop(p)
	s.afterwards[phaseStart] = s.fingerprint()
	s.command(phaseImport, "import", seed, "--data", data)

	p = s.r.serve(phaseServe, append(s.load.flags(), "--backup-dir", s.r.path(backupDir))...)
	s.load.run(p, requests/2, random)
	s.online[0], s.online[1] = s.r.run(phaseServe, "backup", s.r.path(onlineName), "--data", data)
	s.load.run(p, requests/2, random)
	s.load.awaitDropped(p)
	s.stop(p)

	s.command(phaseCompact, "compact", "--data", data)
	s.command(phaseBackup, "backup", s.r.path(coldName), "--data", data)
	s.command(phaseOffline, "org", "create", "--name", "Second", "--data", data)
	s.command(phaseRestore, "restore", s.r.path(coldName), "--data", data, "--yes")

	p = s.r.serve(phaseSeal, append(s.load.flags(), "--seal-key-file", s.key)...)
	s.sealed = time.Now()
	s.load.run(p, requests/8, random)
	s.stop(p)
	s.finish(data)
	return s
}

func (s *story) stop(p *program.Process) {
	s.t.Helper()
	p.StopWell()
}

// command records a command on the data file.
func (s *story) command(phase string, args ...string) {
	s.t.Helper()
	s.before[phase] = s.fingerprint()
	_, s.ended[phase] = s.r.run(phase, args...)
	s.afterwards[phase] = s.fingerprint()
}

func (s *story) fingerprint() string {
	s.t.Helper()
	sum, err := fingerprint(s.r.path(dataName))
	kit.Must(s.t, err)
	return sum
}

// finish reads the record, which has to account for each byte that is in the folder.
func (s *story) finish(data string) {
	s.t.Helper()
	s.ops = s.r.read()
	d, folder := after(s.ops, nil), filepath.Join(s.t.TempDir(), "all")
	d.keepAll()
	d.save(s.t, s.r.folder, folder)
	err := fs.WalkDir(os.DirFS(s.r.folder), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		is, err := os.ReadFile(filepath.Join(s.r.folder, name))
		if made, _ := os.ReadFile(filepath.Join(folder, name)); err == nil && !bytes.Equal(is, made) {
			return fmt.Errorf("%s is not what the record makes of it", name)
		}
		return err
	})
	m, merr := readMoment(data, s.options(), s.load.keys)
	if err != nil || merr != nil {
		s.t.Fatal(err, merr)
	}
	s.log = m.log
	s.t.Logf("%d steps of the disk, %d requests acknowledged", len(s.ops), len(s.load.acks))
}

func (s *story) options() boltstore.Options {
	o, err := app.Options(s.key)
	kit.Must(s.t, err)
	return o
}
