package app_test

import (
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"teamdata/e2e/kit/postgres"
	"teamdata/e2e/kit/program"
	"teamdata/store/boltstore/boltfile"
)

// engines are what the data of a server can be in.
var engines = map[string]func(*testing.T) *place{
	"file": func(t *testing.T) *place {
		return &place{T: t, data: filepath.Join(t.TempDir(), "teamdata.db")}
	},
	"database": func(t *testing.T) *place { return inDatabase(t, postgres.New(t)) },
}

// onEngines runs a test for each of them.
func onEngines(t *testing.T, test func(*testing.T, *place)) {
	t.Parallel()
	for name, in := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, in(t))
		})
	}
}

// place is where a server of a test has its data.
type place struct {
	*testing.T
	data     string   // --data
	beside   []string // flags that go with it
	searches int      // starts on a file whose list of free pages was not in it
}

// inDatabase is the place of a URL.
func inDatabase(t *testing.T, database string) *place {
	return &place{T: t, data: database, beside: []string{"--state-dir", t.TempDir()}}
}

func (p *place) isFile() bool { return len(p.beside) == 0 }

// serve starts a server on the data.
func (p *place) serve(flags ...string) *program.Process {
	p.Helper()
	return program.Serve(p, p.data, slices.Concat(p.beside, flags)...)
}

// serveNew starts one on data that is new. A file has many free pages, in runs of some.
func (p *place) serveNew(flags ...string) *program.Process {
	p.Helper()
	if p.isFile() {
		return serveAfterDeletions(p.T, p.data, flags...)
	}
	return p.serve(flags...)
}

// run runs a command on the data, which is to succeed.
func (p *place) run(args ...string) string {
	p.Helper()
	return program.MustRun(p, p.command(args...)...)
}

// command is a command with the flags that name the data.
func (p *place) command(args ...string) []string {
	return slices.Concat(args, []string{"--data", p.data}, p.beside)
}

// isSound checks the data when its server is gone.
func (p *place) isSound() {
	p.Helper()
	if out, err := program.Run(p, "check", "--data", p.data); err != nil {
		p.Fatalf("after a kill: %v\n%s", err, out)
	}
	if !p.isFile() {
		return
	}
	listed, err := boltfile.CompareFree(p.data)
	if err != nil {
		p.Fatalf("after a kill: page %v", err)
	}
	if !listed {
		p.searches++
	}
}

// deliveries counts what is stored, by a way of its own.
func (p *place) deliveries() int {
	p.Helper()
	if p.isFile() {
		return countDeliveries(p.T, p.data)
	}
	n, err := strconv.Atoi(postgres.Exec(p, p.data, "SELECT count(*) FROM deliveries")[0][0])
	if err != nil {
		p.Fatal(err)
	}
	return n
}
