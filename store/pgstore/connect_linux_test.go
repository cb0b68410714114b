package pgstore

import (
	"net"
	"syscall"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
)

// The kernel gives up a link that no longer answers within 10 s, idle or not.
func TestSocketOptions(t *testing.T) {
	server := postgres.Shared(t)
	c := dialed(t, server.TCP(postgres.Name(t, server.Database(t)))+"?sslmode=disable")
	raw, err := c.Conn().(*net.TCPConn).SyscallConn()
	kit.Must(t, err)
	option := func(number int) (value int) {
		raw.Control(func(fd uintptr) {
			if value, err = syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, number); err != nil {
				t.Error(err)
			}
		})
		return value
	}
	idle, interval, count := option(syscall.TCP_KEEPIDLE), option(syscall.TCP_KEEPINTVL), option(syscall.TCP_KEEPCNT)
	if after := idle + interval*count; after == 0 || after > 10 {
		t.Errorf("an idle link is given up after %d s", after)
	}
	if after := option(18); after == 0 || after > 10_000 {
		t.Errorf("one that confirms nothing is given up after %d ms", after)
	}
}
