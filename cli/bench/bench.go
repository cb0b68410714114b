// Package bench measures what a machine can do with teamdata, so that people
// can choose its size.
//
// A figure alone says little: machines differ, and the same one differs from
// minute to minute. So each figure is compared with a baseline, the least that
// any program would need for the same, measured in the same run and alternating
// with it: a sync of the disk, a bare HTTPS handler, a bare client that signs and
// posts. The ratio of both is what stays stable.
//
// The measured process is always a separate one: a server as deployed, or a
// baseline worker of this program. In both cases this process loads it and
// receives from it. Everything is on the loopback address, and on files in one
// temporary folder. What a database can do is a benchmark of package pgstore.
//
// The package may import store and internal, and no engine: data gets in by
// `serve --seed`. A new measurement is a row of groups and a method in throughput.go,
// latency.go or deletions.go, on top of deployment.go (a server, its data, its
// receiver), client.go (the clients) and baseline.go (the baselines). What sizes no
// machine, such as a start with a backlog, is a benchmark in the tests of this package.
package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"teamdata/internal/hint"
)

// Config is what to measure, and how much of it. Start from [Default].
type Config struct {
	Program string   // the teamdata to measure; empty: this program
	Version string   // of it, for the report
	Dir     string   // where the temporary folder is made; empty: the system's folder for them
	Only    []string // names of measurements; empty: all

	Rounds   int           // how often baseline and server take turns
	Duration time.Duration // of one turn of requests
	Events   int           // delivered in one round of deliver
	Rate     int           // events a second that latency sends
	Members  int           // that pages lists

	Progress func(step string) // called with each step; may be nil
}

// Default are the sizes that a machine is measured with.
func Default() Config {
	return Config{Rounds: 3, Duration: 2 * time.Second, Events: 20_000, Rate: 500, Members: 10_000}
}

// The connections that are open at once.
const (
	connections     = 64
	pageConnections = 32
)

// warmUp is how many events are sent before the first that counts.
func (c *Config) warmUp() int { return min(c.Events/10+1, 2000) }

func (c *Config) wants(name string) bool { return len(c.Only) == 0 || slices.Contains(c.Only, name) }

// check checks that the sizes can be measured.
func (c *Config) check() error {
	for _, size := range []struct {
		flag    string
		n, most int
	}{{"rounds", c.Rounds, 100}, {"events", c.Events, 1_000_000}, {"rate", c.Rate, 100_000}, {"members", c.Members, 1_000_000}} {
		if size.n < 1 || size.n > size.most {
			return fmt.Errorf("--%s %d: give a number from 1 to %d", size.flag, size.n, size.most)
		}
	}
	if c.Duration <= 0 || c.Duration > time.Minute { // servers close connections that are idle for longer than two
		return fmt.Errorf("--duration %s: give more than 0 and at most 1m, such as 2s", c.Duration)
	}
	return c.checkNames()
}

// session is one run on its way.
type session struct {
	Config
	folder   string // for all files; removed at the end
	report   *Report
	current  string   // the measurements that run
	cleanups []func() // of the measurement that runs
}

// Run measures. It ends the processes that it began and removes the files that
// it wrote, also when ctx ends; the error is then ctx's. Errors are one line for
// people.
func Run(ctx context.Context, c Config) (*Report, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp(c.Dir, "teamdata-bench-")
	if err != nil {
		return nil, hint.With(fmt.Errorf("--dir: %w", err), "choose a folder that you may write to")
	}
	defer os.RemoveAll(folder)
	s, err := newSession(c, folder)
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	if err := s.measure(ctx); err != nil {
		return nil, err
	}
	s.noteUnsteady()
	s.report.Seconds = time.Since(begin).Seconds()
	return s.report, nil
}

func newSession(c Config, folder string) (s *session, err error) {
	c.Dir = filepath.Dir(folder)
	if c.Program == "" {
		c.Program, err = os.Executable()
	}
	if c.Progress == nil {
		c.Progress = func(string) {}
	}
	return &session{Config: c, folder: folder, report: newReport(&c)}, err
}

func (s *session) measure(ctx context.Context) error {
	for _, g := range groups {
		chosen := s.chosen(g.measurements)
		if len(chosen) == 0 {
			continue
		}
		s.begin(chosen)
		err := g.measure(s, ctx)
		s.cleanUp()
		if ctx.Err() != nil {
			return ctx.Err() // what else went wrong is a consequence
		}
		if err != nil {
			return fmt.Errorf("%s: %w", chosen[len(chosen)-1], err)
		}
	}
	return nil
}

// onEnd has something done at the end of the measurement, in reverse order.
func (s *session) onEnd(fn func()) { s.cleanups = append(s.cleanups, fn) }

func (s *session) cleanUp() {
	for _, fn := range slices.Backward(s.cleanups) {
		fn()
	}
	s.cleanups = nil
}

// path is that of a file of this run.
func (s *session) path(name string) string { return filepath.Join(s.folder, name) }

// Measurement is one that can be asked for by its name.
type Measurement struct{ Name, What string }

// group is what is measured in turns with one another.
type group struct {
	measure      func(*session, context.Context) error
	measurements []Measurement
}

var groups = []group{
	{(*session).measureSync, []Measurement{{"sync", "4 KiB written and synced, again and again: baseline of everything that is kept"}}},
	{(*session).measureAccept, []Measurement{
		{"handler", "a bare HTTPS handler with 64 connections: baseline of accept"},
		{"accept", "test events accepted on 64 connections, each on the disk before its answer; their receiver answers nothing, so that deliveries wait"},
	}},
	{(*session).measureDeletions, []Measurement{{"after-deletions", "accept in a data file in which many deliveries were stored and deleted, beside a fresh one"}}},
	{(*session).measureDeliver, []Measurement{
		{"client", "a bare client that signs and posts, 64 at a time: baseline of deliver"},
		{"deliver", "events accepted on 64 connections, delivered to 8 endpoints and recorded"},
	}},
	{(*session).measureLatency, []Measurement{{"latency", "from a request and from its answer to the receipt of its event, at a steady rate"}}},
	{(*session).measurePages, []Measurement{{"pages", "pages of 100 members on 32 connections, beside a bare handler that answers as much"}}},
}

// Measurements are all of them, in the order in which they run.
func Measurements() (all []Measurement) {
	for _, g := range groups {
		all = append(all, g.measurements...)
	}
	return all
}

// chosen returns the names of those of the measurements that are wanted.
func (c *Config) chosen(of []Measurement) (names []string) {
	for _, m := range of {
		if c.wants(m.Name) {
			names = append(names, m.Name)
		}
	}
	return names
}

func (c *Config) checkNames() error {
	all := (&Config{}).chosen(Measurements())
	for _, name := range c.Only {
		if !slices.Contains(all, name) {
			return hint.New("--only "+name+": there is no such measurement", "there are "+strings.Join(all, ", "))
		}
	}
	return nil
}

// begin reports which measurements run now.
func (s *session) begin(names []string) {
	s.current = strings.Join(names, ", ")
	s.step("at the start")
}

// round reports progress: i rounds are done.
func (s *session) round(i int) { s.step(fmt.Sprintf("round %d of %d", i+1, s.Rounds)) }

func (s *session) step(step string) { s.Progress(s.current + ": " + step) }
