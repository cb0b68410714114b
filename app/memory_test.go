package app

import (
	"strings"
	"testing"
)

func TestMemoryLimit(t *testing.T) {
	for text, want := range map[string]uint64{
		"75%": 750, "100%": 1000, "1%": 10, "64": 64, "512MiB": 512 << 20, "2GiB": 2 << 30, "1TiB": 1 << 40, "10KiB": 10 << 10,
		"": 0, "0": 0, "0%": 0, "101%": 0, "-1": 0, "1.5GiB": 0, "512MB": 0, "512 MiB": 0, "half": 0, "%": 0, "MiB": 0,
	} {
		got, ok := memoryLimit(text, 1000)
		if ok != (want > 0) || ok && got != want {
			t.Errorf("%q: %d, %t", text, got, ok)
		}
	}
}

// A share whose % was forgotten leaves no room for a single connection.
func TestLeastMemory(t *testing.T) {
	for text, want := range map[string]string{
		"75": "less than the 32MiB that the server needs", "31MiB": "less than", "32MiB": "", "1%": "", "many": "neither a number",
	} {
		if err := checkMemory(text); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
