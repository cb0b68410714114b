//go:build !linux

package pgtest

import "time"

func pause(d time.Duration) { <-time.After(d) }
