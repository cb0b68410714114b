package terminal

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

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
