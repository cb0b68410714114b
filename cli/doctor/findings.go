package doctor

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// The states of a finding.
const (
	OK      = "ok"
	Warning = "warning" // it works, and may not always
	Problem = "problem" // it does not work, or is not safe
)

// Finding is what a look has found.
type Finding struct {
	Check string `json:"check"`
	State string `json:"state"`
	Text  string `json:"text"`
	Mend  string `json:"mend,omitempty"`
}

// Findings are what the looks have found, in their order.
type Findings struct {
	looked string // at, right now
	list   []Finding
}

func (f *Findings) add(state, mend, text string) {
	f.list = append(f.list, Finding{f.looked, state, text, mend})
}

func (f *Findings) ok(format string, args ...any) { f.add(OK, "", fmt.Sprintf(format, args...)) }

func (f *Findings) warn(mend, format string, args ...any) {
	f.add(Warning, mend, fmt.Sprintf(format, args...))
}

func (f *Findings) problem(mend, format string, args ...any) {
	f.add(Problem, mend, fmt.Sprintf(format, args...))
}

// refused and warned are findings of an error of ours, which ends with the mend.
func (f *Findings) refused(err error) { f.told(Problem, err) }
func (f *Findings) warned(err error)  { f.told(Warning, err) }

func (f *Findings) told(state string, err error) {
	text, mend, _ := strings.Cut(err.Error(), "; ")
	f.add(state, mend, text)
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
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return e.Encode(map[string]any{"findings": f.list, "warnings": f.count(Warning), "problems": f.count(Problem)})
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, one := range f.list {
		line := one.Text
		if one.Mend != "" {
			line += "; " + one.Mend
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", one.State, one.Check, strings.Join(strings.Fields(line), " "))
	}
	return w.Flush()
}

// Verdict is an error if there is a problem.
func (f *Findings) Verdict() error {
	if n := f.count(Problem); n > 0 {
		return fmt.Errorf("%d problems, as listed; mend them and run teamdata doctor again", n)
	}
	return nil
}
