//go:build !race

package program

const raceDetector = false
