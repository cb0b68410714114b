//go:build unix

package system

import (
	"os"

	"golang.org/x/sys/unix"
)

// IsOpen reports whether a file descriptor of this process is open.
func IsOpen(descriptor int) bool {
	_, err := unix.FcntlInt(uintptr(descriptor), unix.F_GETFD, 0)
	return err == nil
}

// Listens reports whether a socket accepts connections.
func Listens(socket *os.File) (on bool) {
	conn, err := socket.SyscallConn() // Fd would make it block
	if err != nil {
		return false
	}
	err = conn.Control(func(fd uintptr) {
		value, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_ACCEPTCONN)
		on = err == nil && value != 0
	})
	return err == nil && on
}
