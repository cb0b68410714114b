//go:build race

package program

const raceDetector = true
