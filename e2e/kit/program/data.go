package program

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/store"
	"teamdata/store/boltstore"
	"teamdata/store/boltstore/boltfile"
	"teamdata/store/pgstore"
)

// Data is where a server of a test has its data.
type Data struct {
	*testing.T
	At       string   // --data
	Beside   []string // flags that go with it
	Searches int      // starts on a file whose list of free pages was not in it
}

// InDatabase is data in the database of a URL.
func InDatabase(t *testing.T, database string) *Data {
	return &Data{T: t, At: database, Beside: []string{"--state-dir", t.TempDir()}}
}

func (d *Data) IsFile() bool { return len(d.Beside) == 0 }

// OnEngines runs a test on data in a file, and on data in a database.
func OnEngines(t *testing.T, test func(*testing.T, *Data)) {
	t.Parallel()
	t.Run("file", func(t *testing.T) {
		t.Parallel()
		test(t, &Data{T: t, At: filepath.Join(t.TempDir(), "teamdata.db")})
	})
	t.Run("database", func(t *testing.T) {
		t.Parallel()
		test(t, InDatabase(t, postgres.New(t)))
	})
}

// Serve starts a server on the data.
func (d *Data) Serve(flags ...string) *Process {
	d.Helper()
	return Serve(d, d.At, slices.Concat(d.Beside, flags)...)
}

// ServeNew starts one on data that is new. A file has many free pages, in runs of some.
func (d *Data) ServeNew(flags ...string) *Process {
	d.Helper()
	if !d.IsFile() {
		return d.Serve(flags...)
	}
	s, err := boltstore.Open(d.At, boltstore.Options{NoSync: true})
	kit.Must(d, err)
	for _, size := range []int{3 * os.Getpagesize(), 0} {
		kit.Must(d, s.Update(d.Context(), store.All, func(tx store.Tx) (err error) {
			for i := range 1000 {
				err = errors.Join(err, tx.PutCertificate(fmt.Sprint("ballast ", i), make([]byte, size)))
			}
			return err
		}))
	}
	kit.Must(d, s.Close())
	return d.Serve(flags...)
}

// MustRun runs a command on the data, which is to succeed.
func (d *Data) MustRun(args ...string) string {
	d.Helper()
	return MustRun(d, d.Command(args...)...)
}

// Command is a command with the flags that name the data.
func (d *Data) Command(args ...string) []string {
	return slices.Concat(args, []string{"--data", d.At}, d.Beside)
}

// Open opens the data as a command does: a file that no server has open, or the database
// beside its servers.
func (d *Data) Open() (s store.Engine) {
	d.Helper()
	var err error
	if d.IsFile() {
		s, err = boltstore.Open(d.At, boltstore.Options{})
	} else {
		var target *pgstore.Target
		if target, err = pgstore.ParseTarget(d.At); err == nil {
			s, err = pgstore.Open(d.Context(), target, pgstore.Options{})
		}
	}
	kit.Must(d, err)
	return s
}

// IsSound checks the data when its server is gone.
func (d *Data) IsSound() {
	d.Helper()
	if out, err := Run(d, "check", "--data", d.At); err != nil {
		d.Fatalf("after a kill: %v\n%s", err, out)
	}
	if !d.IsFile() {
		return
	}
	listed, err := boltfile.CompareFree(d.At)
	if err != nil {
		d.Fatalf("after a kill: page %v", err)
	}
	if !listed {
		d.Searches++
	}
}

// Deliveries counts what is stored, by a way of its own: in a file whose layout is
// docs/format.md, or by SQL.
func (d *Data) Deliveries() (n int) {
	d.Helper()
	if !d.IsFile() {
		n, err := strconv.Atoi(postgres.Exec(d, d.At, "SELECT count(*) FROM deliveries")[0][0])
		kit.Must(d, err)
		return n
	}
	db, err := bbolt.Open(d.At, 0o600, &bbolt.Options{ReadOnly: true, Timeout: time.Second})
	kit.Must(d, err)
	defer db.Close()
	kit.Must(d, db.View(func(tx *bbolt.Tx) error {
		n = tx.Bucket([]byte("deliveries")).Stats().KeyN
		return nil
	}))
	return n
}

// Together starts three servers at once on an empty database.
func Together(t *testing.T, flags ...string) (nodes []*Process, places []*Data) {
	t.Helper()
	database := postgres.New(t)
	var ready []string
	for range 3 {
		n, file := InDatabase(t, database), filepath.Join(t.TempDir(), "ready.json")
		args := slices.Concat([]string{"serve", "--data", n.At, "--listen", "127.0.0.1:0", "--ready-file", file, "--seed", Example}, n.Beside, flags)
		nodes, places, ready = append(nodes, Begin(t, exec.Command(Binary(t), args...))), append(places, n), append(ready, file)
	}
	for i, p := range nodes {
		p.AwaitReady(ready[i])
	}
	return nodes, places
}
