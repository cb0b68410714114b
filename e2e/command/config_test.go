package command

import (
	"strings"
	"testing"

	"teamdata/e2e/kit/program"
)

// Serve tells its log of a setting that it overlooks, and not of one that another
// command knows.
func TestServeWarnsOfUnknownNames(t *testing.T) {
	t.Setenv("TEAMDATA_KEY_RAT", "50")
	t.Setenv("TEAMDATA_ORG", "org_acme")
	p := program.Serve(t, t.TempDir()+"/teamdata.db")
	p.StopWell()
	const told = "no such setting"
	if out := p.Out.String(); strings.Count(out, told) != 1 || !strings.Contains(out, `"error":"TEAMDATA_KEY_RAT: `+told+`","hint":"did you mean TEAMDATA_KEY_RATE?"`) {
		t.Errorf("it said:\n%s", out)
	}
}
