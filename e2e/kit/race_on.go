//go:build race

package kit

// Raced reports whether the race detector is on, with which pure computation takes ten times as
// long: a test of one goroutine may do less of it then.
const Raced = true
