package settings

import (
	"regexp"
	"testing"

	"teamdata/store"
)

var pageTitle = regexp.MustCompile(`<title>([^<]*)</title>`)

// Tabs are told apart by their titles: those of two things of a kind differ, and a form
// that was refused begins with Error.
func TestTitles(t *testing.T) {
	w := newEnv(t)
	w.endpoint("whe_1", "member.added")
	w.endpoint("whe_2", "member.added")
	var keys, deliveries, events, replays [2]string
	for i, d := range w.sent("member.added", "{}") {
		deliveries[i] = d.ID
	}
	events = [2]string{w.sent("member.added", "{}")[0].EventID, w.sent("member.added", "{}")[0].EventID}
	w.Update(func(tx store.Tx) error {
		for i := range keys {
			k, err := store.ImportKey(tx, store.APIKey{OrgID: "org_acme", Scopes: store.ScopeRead, CreatedBy: "usr_ada"})
			if err != nil {
				return err
			}
			j, err := store.StartReplay(tx, "usr_ada", store.ReplayJob{OrgID: "org_acme", Filter: store.DeliveryFilter{State: "failed"}})
			if err != nil {
				return err
			}
			keys[i], replays[i] = k.ID, j.ID
		}
		return nil
	})
	b := w.signedIn("usr_ada")
	seen := map[string]string{}
	for _, row := range []struct {
		ids   [2]string
		pages []string
	}{
		{[2]string{"whe_1", "whe_2"}, []string{"/endpoints/%", "/endpoints/%/settings", "/endpoints/%/deliveries", "/endpoints/%/secret", "/endpoints/%/rotate", "/endpoints/%/verify", "/endpoints/%/disable", "/endpoints/%/delete"}},
		{keys, []string{"/keys/%", "/keys/%/revoke"}},
		{deliveries, []string{"/deliveries/%"}},
		{events, []string{"/events/%"}},
		{replays, []string{"/replays/%"}},
		{[2]string{"usr_ada", "usr_alan"}, []string{"/members/%", "/members/%/remove"}},
		{[2]string{"", ""}, []string{"", "/keys", "/new-key", "/members", "/new-member", "/endpoints", "/new-endpoint", "/deliveries", "/events", "/audit-log", "/instructions", "/subscription", "/replay?state=failed"}},
	} {
		for _, page := range row.pages {
			for _, id := range row.ids[:min(2, 1+len(row.ids[1]))] {
				path := "/orgs/org_acme" + regexp.MustCompile("%").ReplaceAllString(page, id)
				r := b.get(path)
				r.wants(t, 200)
				title := pageTitle.FindStringSubmatch(r.Body)[1]
				if other, known := seen[title]; known {
					t.Errorf("%s and %s have the title %q", path, other, title)
				}
				seen[title] = path
			}
		}
	}
	for _, path := range []string{"/new-key", "/new-member", "/new-endpoint", "/endpoints/whe_1/settings", "/endpoints/whe_1/rotate"} {
		b.post("/orgs/org_acme"+path, nil).wants(t, 400, "<title>Error: ", `class="errors" role="alert" tabindex="-1" autofocus`)
	}
}
