package settings

import (
	"html"
	"html/template"
	"net/url"
	"strings"
	"time"

	"teamdata/store"
)

// Bounds of what the side bar counts.
const (
	sideMembers = 999
	sideKeys    = 99
)

// side is the side bar of an org: its sections, with counts where they help.
type side struct {
	Plan     string
	Sections []section
	Features store.Feature // that the subscription grants
	Trouble  bool          // an endpoint is disabled or failing, which the favicon shows too
}

// section is a part of the navigation.
type section struct {
	Name  string // as in the path; overview is the org's own
	Text  string
	Icon  string
	Count string // empty: none
	Bad   bool   // the count is of what needs attention
}

// goKey is a page of an org to which g and a key lead.
type goKey struct {
	section
	Key string
}

var goKeys = []goKey{
	{section{Name: "overview", Text: "Overview"}, "o"}, {section{Name: "endpoints", Text: "Webhooks"}, "w"}, {section{Name: "deliveries", Text: "Deliveries"}, "d"},
	{section{Name: "events", Text: "Events"}, "e"}, {section{Name: "keys", Text: "API keys"}, "k"}, {section{Name: "members", Text: "Members"}, "m"},
	{section{Name: "audit-log", Text: "Audit log"}, "a"},
}

// loadSide counts what the side bar of the path's org shows, as far as that is cheap.
func (r *request) loadSide(tx store.Tx) error {
	if r.Org.ID == "" {
		return nil
	}
	trouble, err := r.countTrouble(tx)
	if err != nil {
		return err
	}
	keys, err := tx.APIKeys(r.Org.ID, "", sideKeys+1)
	if err != nil {
		return err
	}
	members, err := tx.MemberPage(r.Org.ID, store.Cursor{}, sideMembers, nil)
	if err != nil {
		return err
	}
	features, err := store.Features(tx, r.Org.ID)
	if err != nil {
		return err
	}
	r.side = &side{Plan: r.Org.Subscription.Plan, Features: features, Trouble: trouble > 0, Sections: []section{
		{Name: "overview", Text: "Overview", Icon: "home"},
		{Name: "endpoints", Text: "Webhooks", Icon: "hook", Count: formatSome(trouble, false), Bad: true},
		{Name: "events", Text: "Events", Icon: "events"},
		{Name: "keys", Text: "API keys", Icon: "key", Count: formatSome(min(len(keys), sideKeys), len(keys) > sideKeys)},
		{Name: "members", Text: "Members", Icon: "people", Count: formatSome(members.Count, members.More)},
		{Name: "audit-log", Text: "Audit log", Icon: "log"},
		{Name: "instructions", Text: "Assistant", Icon: "chat"},
		{Name: "subscription", Text: "Subscription", Icon: "card"},
	}}
	return nil
}

// formatSome formats a count; empty: there is nothing.
func formatSome(n int, more bool) string {
	if n == 0 {
		return ""
	}
	return formatCount(n, more)
}

// countTrouble counts the org's endpoints that are disabled, had deliveries that failed for
// good in the last 24 hours, or have some that nobody pulls.
func (r *request) countTrouble(tx store.Tx) (n int, err error) {
	endpoints, err := tx.Endpoints(r.Org.ID)
	if err != nil || len(endpoints) == 0 {
		return 0, err
	}
	failed := map[uint64]bool{}
	err = tx.EachDeliveryCounts(r.Org.ID, r.Now.Add(-23*time.Hour), func(endpoint uint64, _ time.Time, c store.DeliveryCounts) {
		failed[endpoint] = failed[endpoint] || c.Failed > 0
	})
	for _, e := range endpoints {
		silent := false
		if e.Pull() && err == nil {
			var p pulling
			p, err = pullingOf(tx, &e)
			silent = p.silent(r.Now)
		}
		if e.Disabled() || failed[e.Number] || silent {
			n++
		}
	}
	return n, err
}

// Path is the path of the section's page in an org.
func (s section) Path(orgID string) string {
	if s.Name == "overview" {
		return orgPath(orgID)
	}
	return orgPath(orgID, s.Name)
}

// favicon is the picture in the browser's tab, with a red dot when something is in
// trouble: as data, which costs no request.
func favicon(b Brand, trouble bool) template.URL {
	dot := ""
	if trouble {
		dot = `<circle cx='25' cy='7' r='7' fill='#d92d20' stroke='#fff' stroke-width='2'/>`
	}
	mark := `<path d='M8 10h16M16 10v14' stroke='#fff' stroke-width='4' stroke-linecap='round'/>`
	if b.Name != "" {
		mark = `<text x='16' y='23' text-anchor='middle' font-family='sans-serif' font-weight='600' font-size='20' fill='#fff'>` + url.PathEscape(html.EscapeString(initials(strings.Fields(b.Name)[0]))) + `</text>`
	}
	return template.URL("data:image/svg+xml," + faviconEscaper.Replace(`<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'><rect width='32' height='32' rx='7' fill='`+b.faviconColour()+`'/>`+mark+dot+`</svg>`))
}

// faviconEscaper escapes what a URL can't have.
var faviconEscaper = strings.NewReplacer("<", "%3C", ">", "%3E", "#", "%23", " ", "%20")
