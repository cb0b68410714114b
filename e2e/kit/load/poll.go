package load

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"teamdata/e2e/kit/program"
)

// Poll follows next until the writers are done and nothing follows. It asks another of
// the servers for each page.
func Poll(t *testing.T, servers []*program.Process, list string, writing context.Context, writers, entries int) {
	next := make([]int, writers) // each writer's entries come in its own order
	last, after := "", ""
	for n := 0; ; n++ {
		ended := writing.Err() != nil
		a, err := servers[n%len(servers)].Do("GET", list+"?limit=100"+after, program.ReadKey)
		var got struct {
			Data    []struct{ ID, Action, UserID string }
			Next    string
			HasMore bool
		}
		if err != nil || json.Unmarshal([]byte(a.Body), &got) != nil {
			t.Errorf("answered %d %s (%v)", a.Status, a.Body, err)
			return
		}
		for _, e := range got.Data {
			var w, i int
			if _, err := fmt.Sscanf(e.Action+e.UserID, "w%d_%d", &w, &i); err != nil {
				continue // of the example org, or that a member was added
			}
			if i != next[w] || e.ID <= last {
				t.Errorf("after %d of writer %d came %d; id %s after %s", next[w]-1, w, i, e.ID, last)
				return
			}
			next[w], last = i+1, e.ID
		}
		if ended && !got.HasMore {
			break
		}
		after = "&after=" + got.Next
	}
	for w, n := range next {
		if n != entries {
			t.Errorf("%d of %d entries of writer %d were seen", n, entries, w)
		}
	}
}
