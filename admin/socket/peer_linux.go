package socket

import (
	"errors"
	"net"
	"syscall"
)

// peer is the user id of the other end.
func peer(conn *net.UnixConn) (uid uint32, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *syscall.Ucred
	fault := raw.Control(func(fd uintptr) {
		cred, err = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	})
	if err := errors.Join(fault, err); err != nil {
		return 0, err
	}
	return cred.Uid, nil
}
