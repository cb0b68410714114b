package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// The states of a finding.
const (
	stateOK      = "ok"
	stateWarning = "warning" // it works, and may not always
	stateProblem = "problem" // it does not work, or is not safe
)

// finding is what a look has found.
type finding struct {
	Check string `json:"check"`
	State string `json:"state"`
	Text  string `json:"text"`
	Mend  string `json:"mend,omitempty"`
}

type findings struct {
	looked string // at, right now
	list   []finding
}

func (f *findings) add(state, mend, text string) {
	f.list = append(f.list, finding{f.looked, state, text, mend})
}

func (f *findings) ok(format string, args ...any) { f.add(stateOK, "", fmt.Sprintf(format, args...)) }

func (f *findings) warn(mend, format string, args ...any) {
	f.add(stateWarning, mend, fmt.Sprintf(format, args...))
}

func (f *findings) problem(mend, format string, args ...any) {
	f.add(stateProblem, mend, fmt.Sprintf(format, args...))
}

// refused and warned are findings of an error of ours, which ends with the mend.
func (f *findings) refused(err error) { f.told(stateProblem, err) }
func (f *findings) warned(err error)  { f.told(stateWarning, err) }

func (f *findings) told(state string, err error) {
	text, mend, _ := strings.Cut(err.Error(), "; ")
	f.add(state, mend, text)
}

func (f *findings) count(state string) (n int) {
	for _, one := range f.list {
		if one.State == state {
			n++
		}
	}
	return n
}

func (f *findings) print(out io.Writer, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return e.Encode(map[string]any{"findings": f.list, "warnings": f.count(stateWarning), "problems": f.count(stateProblem)})
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

func (f *findings) verdict() error {
	if n := f.count(stateProblem); n > 0 {
		return fmt.Errorf("%d problems, as listed; mend them and run teamdata doctor again", n)
	}
	return nil
}
