package system

import (
	"time"

	"golang.org/x/sys/unix"
)

// Suspended is how long the machine was suspended since it was started, in which its
// monotonic clock stood still.
func Suspended() time.Duration {
	var with, without unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &with) != nil || unix.ClockGettime(unix.CLOCK_MONOTONIC, &without) != nil {
		return 0
	}
	return time.Duration(with.Nano() - without.Nano())
}
