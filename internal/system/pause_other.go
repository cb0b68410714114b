//go:build !linux

package system

import "time"

// Pause waits for d.
func Pause(d time.Duration) { <-time.After(d) }
