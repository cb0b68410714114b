package pgtest

import (
	"syscall"
	"time"
)

// pause waits for d. A timer of the runtime may take a millisecond longer, which is as
// much as some delays.
func pause(d time.Duration) {
	left := syscall.NsecToTimespec(int64(d))
	for syscall.Nanosleep(&left, &left) == syscall.EINTR {
	}
}
