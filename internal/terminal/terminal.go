// Package terminal is about the person at a terminal: whether there is one, how
// wide their window is, how far long work has come, and their yes to what can't be
// taken back.
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
	"github.com/spf13/cobra"
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

// Confirm has a person type yes before what can't be taken back is done. what
// says it, as a sentence without its full stop. yes is the flag --yes, which a
// script needs: there is nobody to ask.
func Confirm(cmd *cobra.Command, yes bool, what string) error {
	if yes {
		return nil
	}
	nobody := fmt.Errorf("%s; say --yes to do it without being asked", what)
	in, ok := cmd.InOrStdin().(*os.File)
	if !ok || !Is(in) {
		return nobody
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s. Type yes to go on: ", what)
	switch answer, err := bufio.NewReader(in).ReadString('\n'); {
	case err != nil:
		fmt.Fprintln(cmd.ErrOrStderr())
		return nobody
	case strings.TrimSpace(answer) != "yes":
		return errors.New("nothing was done, for the answer was not yes")
	}
	return nil
}

// ShellWord quotes a text for a shell if it needs that.
func ShellWord(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-:@%+,=", r))
	}) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
