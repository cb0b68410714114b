package teamdatatest_test

import (
	"strings"
	"testing"
	"time"

	"teamdata/store"
	"teamdata/teamdatatest"
)

// What waits at a pull endpoint is pulled in order, verified by the server's clock, and
// acknowledged.
func TestPull(t *testing.T) {
	t.Parallel()
	srv := teamdatatest.Start(t, teamdatatest.Org("org_acme", teamdatatest.PullEndpoint("whe_1", "member.*"), teamdatatest.Endpoint("whe_2")))
	srv.Admin("POST", "/orgs/org_acme/members", addBob)
	srv.Advance(20 * 24 * time.Hour)
	srv.Admin("DELETE", "/orgs/org_acme/members/usr_bob", "")
	events := srv.Pull("org_acme", "whe_1")
	if len(events) != 2 || events[0].Type != "member.added" || events[1].Type != "member.removed" {
		t.Fatalf("pulled were %+v", events)
	}
	if e := events[0]; e.OrgID != "org_acme" || e.EndpointID != "whe_1" || e.Status != 0 || !e.Timestamp.Equal(srv.Now().Truncate(time.Second)) || !strings.Contains(string(e.Data), "usr_bob") {
		t.Errorf("the first is %+v", e)
	}
	if again := srv.Pull("org_acme", "whe_1"); len(again) > 0 {
		t.Errorf("pulled again were %+v", again)
	}
	for _, d := range srv.Deliveries("org_acme", "whe_1") {
		if d.State != store.StateAcknowledged {
			t.Errorf("%s is %s", d.ID, d.State)
		}
	}
}
