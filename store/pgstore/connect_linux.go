package pgstore

import (
	"strings"
	"syscall"
)

// setUserTimeout makes a connection fail when what was sent is not confirmed within 10 s.
func setUserTimeout(network, _ string, c syscall.RawConn) error {
	if !strings.HasPrefix(network, "tcp") {
		return nil
	}
	const tcpUserTimeout = 18
	var failed error
	err := c.Control(func(fd uintptr) {
		failed = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, 10_000)
	})
	if err != nil {
		return err
	}
	return failed
}
