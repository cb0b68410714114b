package doctor

import (
	"fmt"
	"io"
	"strings"

	"teamdata/internal/hint"
	"teamdata/internal/terminal"
)

// The states of a finding.
const (
	OK      = "ok"
	Warning = "warning" // it works, and may not always
	Problem = "problem" // it does not work, or is not safe
)

// Finding is the result of a check. The fix is separate from the text; it is
// empty if all is well.
type Finding struct {
	Check string `json:"check"`
	State string `json:"state"`
	Text  string `json:"text"`
	Fix   string `json:"fix,omitempty"`
}

// Findings are what the checks have found, in their order.
type Findings struct {
	current string // the check that runs
	list    []Finding
}

func (f *Findings) add(state, fix, text string) {
	f.list = append(f.list, Finding{f.current, state, text, fix})
}

func (f *Findings) ok(format string, args ...any) { f.add(OK, "", fmt.Sprintf(format, args...)) }

func (f *Findings) warn(fix, format string, args ...any) {
	f.add(Warning, fix, fmt.Sprintf(format, args...))
}

func (f *Findings) problem(fix, format string, args ...any) {
	f.add(Problem, fix, fmt.Sprintf(format, args...))
}

// refused and warned are findings of an error of ours, whose hint is the fix.
func (f *Findings) refused(err error) { f.addError(Problem, err) }
func (f *Findings) warned(err error)  { f.addError(Warning, err) }

func (f *Findings) addError(state string, err error) {
	text, fix := hint.Split(err)
	f.add(state, fix, text)
}

func (f *Findings) count(state string) (n int) {
	for _, one := range f.list {
		if one.State == state {
			n++
		}
	}
	return n
}

// Print writes a line for each finding, or JSON.
func (f *Findings) Print(out io.Writer, asJSON bool) error {
	if asJSON {
		return terminal.JSON(out, map[string]any{"findings": f.list, "warnings": f.count(Warning), "problems": f.count(Problem)})
	}
	var rows [][]string
	for _, one := range f.list {
		line := one.Text
		if one.Fix != "" {
			line += "; " + one.Fix
		}
		rows = append(rows, []string{one.State, one.Check, strings.Join(strings.Fields(line), " ")})
	}
	return (&terminal.Table{To: out}).Print(rows...)
}

// Verdict is an error if there is a problem.
func (f *Findings) Verdict() error {
	if n := f.count(Problem); n > 0 {
		return hint.New(terminal.Count(n, "problem")+", as listed", "fix what is listed and run teamdata doctor again")
	}
	return nil
}
