package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// Colours are for terminals, and for those who want them.
func TestListenColours(t *testing.T) {
	const green = "\x1b[1;32mverified\x1b[0m"
	for name, test := range map[string]struct {
		terminal    bool
		environment string
		want        bool
	}{
		"terminal":      {true, "NO_COLOR=", true},
		"NO_COLOR":      {true, "NO_COLOR=1", false},
		"dumb terminal": {true, "TERM=dumb", false},
		"pipe":          {false, "NO_COLOR=", false},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(binary, listenArgs(t, []string{"--secret-file", secretFile(t, hookSecret)})...)
			cmd.Env = append(os.Environ(), "TERM=xterm", test.environment)
			out := newOutput()
			if test.terminal {
				cmd.Stdout = openTerminal(t, out)
			}
			p := startListening(t, cmd)
			if !test.terminal {
				out = p.out
			}
			p.mustSend("whd_1", hookSecret, 204)
			p.await("the event", func() bool { return strings.Contains(out.String(), "usr_ada") })
			if strings.Contains(out.String(), green) != test.want || strings.Contains(out.String(), "\x1b") != test.want {
				t.Errorf("it printed %q", out)
			}
		})
	}
}

// openTerminal opens a terminal; what is written to it comes out in out.
func openTerminal(t *testing.T, out io.Writer) *os.File {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		mustSkip(t, "there are no terminals: "+err.Error())
	}
	t.Cleanup(func() { screen.Close() })
	var locked, number int32
	control(t, screen, syscall.TIOCSPTLCK, &locked)
	control(t, screen, syscall.TIOCGPTN, &number)
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { terminal.Close() })
	go io.Copy(out, screen)
	return terminal
}

func control(t *testing.T, f *os.File, request uintptr, value *int32) {
	t.Helper()
	if _, _, err := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), request, uintptr(unsafe.Pointer(value))); err != 0 {
		t.Fatal(err)
	}
}
