package teamdatatest

import (
	"context"
	"net/http"

	teamdata "teamdata/client"
	"teamdata/delivery/receiver"
)

// Pull pulls all that is due at an endpoint of the kind pull, in order, with the org's key, and
// acknowledges it. The test fails if a signature or a timestamp is wrong.
//
//	srv := teamdatatest.Start(t, teamdatatest.Org("org_acme", teamdatatest.PullEndpoint("whe_1")))
//	srv.Admin("POST", "/orgs/org_acme/members", `{"userId":"usr_bob","role":"member"}`)
//	events := srv.Pull("org_acme", "whe_1")
func (s *Server) Pull(orgID, endpointID string) (events []Event) {
	s.t.Helper()
	client := teamdata.New(teamdata.Config{BaseURL: s.URL, Key: s.Key(orgID), HTTP: s.Client("")})
	verifies := receiver.New(receiver.Config{SecretsOf: s.receiver.secretsOf, Now: s.Now})
	for ack := []string{}; ; {
		found, err := client.PullDeliveries(context.Background(), endpointID, teamdata.Pull{Ack: &ack})
		must(s.t, err)
		if len(found) == 0 {
			return events
		}
		ack = ack[:0]
		for _, d := range found {
			header := http.Header{"Webhook-Id": {d.ID}, "Webhook-Timestamp": {d.Timestamp}, "Webhook-Signature": {d.Signature}}
			came := verifies.Take(context.Background(), header, []byte(d.Body))
			if came.Problem != "" {
				s.t.Fatalf("the delivery %s was pulled, but: %s", d.ID, came.Problem)
			}
			e, err := s.eventOf(header, came)
			must(s.t, err)
			events, ack = append(events, e), append(ack, d.ID)
		}
	}
}
