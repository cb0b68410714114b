// Package terminal is about the person at a terminal: whether there is one, how
// wide their window is, how far long work has come, and their yes to what can't be
// taken back.
package terminal

import (
	"cmp"
	"io"
	"os"

	"github.com/mattn/go-isatty"
)

// Is tells whether a file is a terminal.
func Is(f *os.File) bool { return isatty.IsTerminal(f.Fd()) }

// someColumns are taken for the width of a terminal that doesn't tell.
const someColumns = 80

// Width is how many columns there are to write in, 0 where it is no terminal.
func Width(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok || !Is(f) {
		return 0
	}
	return cmp.Or(columnsOf(f), someColumns)
}
