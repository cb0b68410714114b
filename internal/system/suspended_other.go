//go:build !linux

package system

import "time"

// Suspended is not known.
func Suspended() time.Duration { return 0 }
