package nodes_test

import (
	"net/http"
	"strings"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/e2e/kit/program"
)

// Three servers that are started together on an empty database have one local CA, and
// import the seed once. A client that trusts the CA by the file of one reaches them all.
func TestTogether(t *testing.T) {
	t.Parallel()
	nodes, places := program.Together(t)
	ca := kit.ReadText(t, nodes[0].CAFile)
	if n := strings.Count(ca, "BEGIN CERTIFICATE"); n != 1 {
		t.Errorf("there are %d CAs", n)
	}
	for i, p := range nodes {
		if kit.ReadText(t, p.CAFile) != ca {
			t.Errorf("node %d has another CA", i)
		}
		if a := program.Connect(t, p.URL, nodes[0].CAFile).Must("GET", "/members", program.ReadKey); a.Status != http.StatusOK {
			t.Errorf("node %d answers %d %s", i, a.Status, a.Body)
		}
	}
	if got := postgres.Exec(t, places[0].At, "SELECT count(*) FROM certificates WHERE key = 'local-ca'"); got[0][0] != "1" {
		t.Errorf("the database holds %s CAs", got[0][0])
	}
	filled := 0
	for _, p := range nodes {
		filled += strings.Count(p.Out.String(), "filled the data file")
	}
	if filled != 1 {
		t.Errorf("the seed was imported %d times", filled)
	}
	for _, p := range nodes {
		p.StopWell()
	}
	again := places[1].Serve()
	if program.Connect(t, again.URL, nodes[0].CAFile).Must("GET", "/members", program.ReadKey); kit.ReadText(t, again.CAFile) != ca {
		t.Error("after a restart there is another CA")
	}
}
