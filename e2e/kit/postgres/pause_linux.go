package postgres

import (
	"syscall"
	"time"
)

// pause waits for d. A timer of the runtime may take a millisecond longer, which is as
// much as a link that is imitated with it takes.
func pause(d time.Duration) {
	left := syscall.NsecToTimespec(int64(d))
	for syscall.Nanosleep(&left, &left) == syscall.EINTR {
	}
}
