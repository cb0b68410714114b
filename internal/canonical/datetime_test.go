package canonical

import "testing"

func TestDateTime(t *testing.T) {
	for text, want := range map[string]bool{
		"2026-01-02T03:04:05Z": true, "2026-01-02T03:04:05.678901234Z": true, "2024-02-29T00:00:00Z": true,
		"2026-01-02T03:04:05+23:59": true, "2026-01-02T03:04:05-23:59": true, "2026-01-02T03:04:05.5-00:00": true,
		"2026-01-02T03:04:05+24:00": false, "2026-01-02T03:04:05-24:00": false, "2026-01-02T03:04:05.5+24:59": false, "2026-01-02T03:04:05+23:60": false,
		"2026-01-02T03:04:05+0100": false, "2026-01-02T03:04:05+01": false, "2026-01-02T03:04:05": false, "2026-01-02T03:04:05+01:00Z": false,
		"2026-01-02T3:04:05Z": false, "2026-01-02T3:04:05.5Z": false, "2026-01-02T3:04:05+01:00": false, "2026-01-02T03:04:05,5Z": false, "2026-01-02T03:04:05.Z": false,
		"2026-01-02T24:00:00Z": false, "2026-02-29T00:00:00Z": false, "2026-01-02 03:04:05Z": false, "2026-01-02t03:04:05z": false, "": false, "Z": false,
	} {
		if _, ok := DateTime(text); ok != want {
			t.Errorf("%s: %t", text, ok)
		}
	}
}
