//go:build !linux

package bench

import (
	"errors"
	"os"
)

func syncData(file *os.File) error { return file.Sync() }

// isInMemory is not known here.
func isInMemory(string) bool { return false }

const memoryKnown = false

func residentMemory(int) (now, peak float64, err error) { return 0, 0, errors.ErrUnsupported }
