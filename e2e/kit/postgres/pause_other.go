//go:build !linux

package postgres

import "time"

// pause waits for d.
func pause(d time.Duration) { <-time.After(d) }
