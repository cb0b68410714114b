package app

import (
	"fmt"
	"strings"

	"teamdata/store/fixture"
)

// Counted are the records of a fixture in words.
func Counted(s fixture.Summary) string {
	var parts []string
	for _, kind := range []struct {
		n         int
		one, many string
	}{
		{s.Orgs, "org", "orgs"}, {s.Members, "member", "members"}, {s.AuditEntries, "audit entry", "audit entries"},
		{s.APIKeys, "API key", "API keys"}, {s.Endpoints, "endpoint", "endpoints"}, {s.Plans, "plan", "plans"},
		{s.EventTypes, "event type", "event types"}, {s.OperatorTokens, "operator token", "operator tokens"},
	} {
		switch kind.n {
		case 0:
		case 1:
			parts = append(parts, "1 "+kind.one)
		default:
			parts = append(parts, fmt.Sprintf("%d %s", kind.n, kind.many))
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}
