// Package terminal helps commands talk to a person: is there a terminal, how wide is
// it, a progress line for long work, a confirmation before what can't be undone,
// tables, JSON for scripts, and text made fit for a terminal or a shell.
//
// Of ours it imports internal/hint alone. The output of a command belongs to that command; a
// line belongs here if it depends on the terminal and not on the command.
package terminal

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/mattn/go-isatty"

	"teamdata/internal/hint"
)

// Is reports whether a file is a terminal.
func Is(f *os.File) bool { return isatty.IsTerminal(f.Fd()) }

// defaultColumns is the assumed width of a terminal that doesn't report one.
const defaultColumns = 80

// Width is how many columns a terminal has, 0 where w is none.
func Width(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok || !Is(f) {
		return 0
	}
	return cmp.Or(columnsOf(f), defaultColumns)
}

// Confirm asks the person at a terminal to type yes before something that can't be
// undone. what describes it, as a sentence without its full stop. yes is the flag
// --yes, which a script needs, since there is nobody to ask: without it the error is
// the sentence and that advice.
func Confirm(in io.Reader, out io.Writer, yes bool, what string) error {
	if yes {
		return nil
	}
	unasked := hint.New(what, "add --yes to skip this question")
	if person, ok := in.(*os.File); !ok || !Is(person) {
		return unasked
	}
	fmt.Fprintf(out, "%s. Type yes to go on: ", what)
	switch answer, err := bufio.NewReader(in).ReadString('\n'); {
	case err != nil:
		fmt.Fprintln(out)
		return unasked
	case strings.TrimSpace(answer) != "yes":
		return errors.New("nothing was done, because the answer was not yes")
	}
	return nil
}
