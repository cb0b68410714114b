package program

import (
	"fmt"
	"io"
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"teamdata/e2e/kit"
)

// OpenTerminal opens a terminal; what is written to it comes out in out.
func OpenTerminal(t testing.TB, out io.Writer) *os.File {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		kit.MustSkip(t, "there are no terminals: "+err.Error())
	}
	t.Cleanup(func() { screen.Close() })
	kit.Must(t, unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0)) // it begins locked
	number, err := unix.IoctlGetUint32(int(screen.Fd()), unix.TIOCGPTN)
	kit.Must(t, err)
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	kit.Must(t, err)
	t.Cleanup(func() { terminal.Close() })
	go io.Copy(out, screen)
	return terminal
}
