package main

import (
	"strings"
	"testing"
)

// Serve tells its log of a setting that it overlooks, and not of one that another
// command knows.
func TestServeWarnsOfUnknownNames(t *testing.T) {
	t.Setenv("TEAMDATA_KEY_RAT", "50")
	t.Setenv("TEAMDATA_ORG", "org_acme")
	p := serveProcess(t, t.TempDir()+"/teamdata.db")
	if err := p.stop(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	const told = "no such setting"
	if out := p.out.String(); strings.Count(out, told) != 1 || !strings.Contains(out, "TEAMDATA_KEY_RAT: "+told+"; did you mean TEAMDATA_KEY_RATE?") {
		t.Errorf("it said:\n%s", out)
	}
}
