package wheel

import (
	"math"
	"time"
)

const (
	// signBit makes signed milliseconds since 1970 sort as unsigned ticks.
	signBit = 1 << 63
	// farthest is the last second, either side of 1970, whose milliseconds
	// (and one more, from rounding up) fit in 64 bits.
	farthest = math.MaxInt64/1000 - 1
)

// floorTick is the last whole millisecond at or before t.
func floorTick(t time.Time) uint64 {
	return uint64(clamp(t).UnixMilli()) ^ signBit
}

// ceilTick is the first whole millisecond at or after t.
func ceilTick(t time.Time) uint64 {
	return floorTick(clamp(t).Add(time.Millisecond - 1))
}

func clamp(t time.Time) time.Time {
	switch sec := t.Unix(); {
	case sec > farthest:
		return time.Unix(farthest, 0)
	case sec < -farthest:
		return time.Unix(-farthest, 0)
	}
	return t
}

func tickTime(tick uint64) time.Time {
	return time.UnixMilli(int64(tick ^ signBit))
}
