package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// session is one run on its way.
type session struct {
	Config
	folder string // for all files; removed at the end
	chosen []string
	report *Report
	*progress
}

// Run measures. It ends what it began, and removes what it wrote, also when ctx
// ends; the error is then ctx's. Errors are one line for people.
func Run(ctx context.Context, c Config) (*Report, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if err := c.complete(); err != nil {
		return nil, err
	}
	chosen, err := c.choose()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp(c.Dir, "teamdata-bench-")
	if err != nil {
		return nil, fmt.Errorf("--dir: %w; choose a folder that you may write to", err)
	}
	defer os.RemoveAll(folder)
	s := &session{Config: c, folder: folder, chosen: chosen, progress: &progress{out: c.Progress, terminal: c.Terminal}}
	defer s.clear()
	return s.measure(ctx)
}

func (s *session) measure(ctx context.Context) (*Report, error) {
	s.report = &Report{Machine: machineOf(&s.Config), StartedAt: time.Now().UTC().Truncate(time.Second), Figures: []Figure{}, Notes: []string{}}
	begin := time.Now()
	for _, g := range groups {
		wanted := g.wanted(s.chosen)
		if len(wanted) == 0 {
			continue
		}
		s.begin(wanted, len(s.chosen))
		if err := g.run(s, ctx); err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err() // what else went wrong is a consequence
			}
			return nil, fmt.Errorf("%s: %w", wanted[len(wanted)-1], err)
		}
	}
	s.noteUnsteady()
	s.report.Seconds = time.Since(begin).Seconds()
	return s.report, nil
}

// unsteady is the spread from which on a reader is told.
const unsteady = 2

// noteUnsteady says which of the machine's own figures were not the same from
// round to round.
func (s *session) noteUnsteady() {
	var found []string
	for _, f := range s.report.Figures {
		if spread := f.spread(); spread >= unsteady {
			found = append(found, fmt.Sprintf("%s (by %.1f)", f.Name, spread))
		}
	}
	if len(found) > 0 {
		s.note("the machine did not hold still: from round to round it changed under %s; run it again while nothing else runs", strings.Join(found, ", "))
	}
}

// wants tells whether the measurement of this name was chosen.
func (s *session) wants(name string) bool { return slices.Contains(s.chosen, name) }

// path is that of a file of this run.
func (s *session) path(name string) string { return filepath.Join(s.folder, name) }

func (s *session) add(f Figure) { s.report.Figures = append(s.report.Figures, f) }

func (s *session) note(format string, args ...any) {
	s.report.Notes = append(s.report.Notes, fmt.Sprintf(format, args...))
}
