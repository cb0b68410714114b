//go:build !race

package kit

const Raced = false
