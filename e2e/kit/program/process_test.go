package program

import (
	"os/exec"
	"testing"
	"time"
)

// A program that goes on after a limit is killed and waited for once.
func TestKillAfterALimit(t *testing.T) {
	p := Begin(t, exec.Command("sleep", "60"))
	for range 2 {
		if p.endsWithin(time.Millisecond) {
			t.Error("it has ended")
		}
	}
	p.Kill()
	if p.Ended() == 0 {
		t.Errorf("it ended with %v", p.Cmd.ProcessState)
	}
}
