package doctor

import (
	"testing"
	"time"
)

func TestWhen(t *testing.T) {
	at := time.Date(2026, 11, 21, 13, 0, 5, 0, time.FixedZone("", 3600))
	for people, want := range map[bool]string{true: "2026-11-21 12:00:05 UTC", false: "2026-11-21T12:00:05Z"} {
		d := doctor{Config: Config{People: people}}
		if got := d.when(at); got != want {
			t.Errorf("for people %t: %s, not %s", people, got, want)
		}
	}
}
