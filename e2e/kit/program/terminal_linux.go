package program

import (
	"fmt"
	"io"
	"os"
	"syscall"
	"testing"
	"unsafe"

	"teamdata/e2e/kit"
)

// openTerminal opens a terminal; what is written to it comes out in out.
func OpenTerminal(t testing.TB, out io.Writer) *os.File {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		kit.MustSkip(t, "there are no terminals: "+err.Error())
	}
	t.Cleanup(func() { screen.Close() })
	var locked, number int32
	control(t, screen, syscall.TIOCSPTLCK, &locked)
	control(t, screen, syscall.TIOCGPTN, &number)
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	kit.Must(t, err)
	t.Cleanup(func() { terminal.Close() })
	go io.Copy(out, screen)
	return terminal
}

func control(t testing.TB, f *os.File, request uintptr, value *int32) {
	t.Helper()
	if _, _, err := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), request, uintptr(unsafe.Pointer(value))); err != 0 {
		t.Fatal(err)
	}
}
