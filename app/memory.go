package app

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"teamdata/internal/hint"
	"teamdata/internal/memory"
	"teamdata/internal/system"
)

// memoryUnits are those of --memory-limit, in which GOMEMLIMIT is given too.
var memoryUnits = []struct {
	name  string
	bytes float64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}}

// memoryLimit reads --memory-limit: how many bytes that is where there are so many.
func memoryLimit(text string, there uint64) (bytes uint64, ok bool) {
	unit := 1.0
	if share, isShare := strings.CutSuffix(text, "%"); isShare {
		percent, err := strconv.ParseUint(share, 10, 7)
		return there / 100 * percent, err == nil && percent > 0 && percent <= 100
	}
	for _, u := range memoryUnits {
		if number, has := strings.CutSuffix(text, u.name); has {
			text, unit = number, u.bytes
		}
	}
	n, err := strconv.ParseUint(text, 10, 63)
	return uint64(min(float64(n)*unit, math.MaxInt64/2)), err == nil && n > 0
}

// leastMemory is the least that --memory-limit may say, in bytes. With less, the check of one
// password, which takes 19 MiB, would keep new connections out.
const leastMemory = 32 << 20

// checkMemory checks --memory-limit. How much a share is shows only where the server runs.
func checkMemory(text string) error {
	switch bytes, ok := memoryLimit(text, math.MaxInt64); {
	case !ok:
		return fmt.Errorf("--memory-limit %q is neither a number of bytes, such as 512MiB or 2GiB, nor a share, such as 75%%", text)
	case bytes < leastMemory:
		return hint.New(fmt.Sprintf("--memory-limit %q is less than the 32MiB that the server needs", text), "give more, such as 512MiB, or a share, such as 75%")
	}
	return nil
}

// keepMemory keeps the process below --memory-limit. Where nobody says how much memory there
// is, a share is no limit; a share of little is as much as the server needs.
func keepMemory(limit string) *memory.Keeper {
	there, known := system.MemoryLimit()
	if !known {
		there = math.MaxInt64 / 2
	}
	bytes, _ := memoryLimit(limit, there)
	return memory.Keep(max(bytes, leastMemory))
}
