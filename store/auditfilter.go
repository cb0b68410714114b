package store

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// AuditFilter selects entries of an audit log. Its zero value selects all.
type AuditFilter struct {
	Actor  string    // who did it, or [SystemActor]; empty: anybody
	Action string    // what the action begins with; empty: any
	Target string    // id, or part of the name, of what it was done to; empty: anything
	Since  time.Time // when it was done; zero: no bound
	Until  time.Time // before which it was done; zero: no bound

	targets []string // ids that Target means, once [AuditFilter.FindTargets] found them
}

// SystemActor stands in a filter for the system, whose entries have no actor.
const SystemActor = "System"

// AuditFilterFields are the names of a filter's fields in queries.
var AuditFilterFields = []string{"actor", "action", "target", "since", "until"}

// ParseAuditFilter parses a filter whose fields get returns by their names in
// AuditFilterFields. Times are those of [ParseDeliveryFilter]. badRequest names the field.
func ParseAuditFilter(get func(name string) string) (f AuditFilter, err error) {
	f = AuditFilter{Actor: get("actor"), Action: get("action"), Target: get("target")}
	for _, name := range AuditFilterFields[:3] {
		if err := checkLength(name, get(name), maxNameLength); err != nil {
			return AuditFilter{}, err
		}
	}
	f.Since, f.Until, err = parsePeriod(get, filterTime)
	return f, err
}

// Any reports whether the filter selects less than all.
func (f AuditFilter) Any() bool {
	return f.Actor != "" || f.Action != "" || f.Target != "" || !f.Since.IsZero() || !f.Until.IsZero()
}

// Matches reports whether the filter selects an entry, once its targets are found.
func (f AuditFilter) Matches(e AuditEntry) bool {
	actor := e.ActorID
	if actor == "" {
		actor = SystemActor
	}
	return (f.Actor == "" || actor == f.Actor) && (f.Target == "" || slices.Contains(f.targets, e.TargetID)) &&
		strings.HasPrefix(e.Action, f.Action) && !e.CreatedAt.Before(f.Since) && !f.EndsBefore(e.CreatedAt)
}

// EndsBefore reports whether a time is after what the filter selects.
func (f AuditFilter) EndsBefore(at time.Time) bool { return !f.Until.IsZero() && !at.Before(f.Until) }

// Begin is the position before the first entry that the filter may select.
func (f AuditFilter) Begin() Cursor { return beforeTime(f.Since) }

// End is the position behind the last entry that the filter may select; zero: there is no
// bound.
func (f AuditFilter) End() Cursor { return beforeTime(f.Until) }

// beforeTime is the position before the first item of a time; zero for the zero time.
func beforeTime(t time.Time) Cursor {
	if t.IsZero() {
		return Cursor{}
	}
	return CursorOf(t, " ") // before every id
}

// Among how many of an org's API keys and members a target is searched for by its name.
const (
	MaxKeysNamed    = 1000
	maxMembersNamed = 2000
)

// FindTargets finds the ids that the filter's target means in an org: itself, endpoints with
// it in the URL or, without one, in the description, API keys and the first members with it
// in the name, and the membership of a user id.
func (f *AuditFilter) FindTargets(tx Tx, orgID string) error {
	if f.Target == "" {
		return nil
	}
	f.targets = []string{f.Target}
	if orgID == OperatorLog {
		return nil
	}
	part := strings.ToLower(f.Target)
	add := func(name string, ids ...string) {
		if strings.Contains(strings.ToLower(name), part) {
			f.targets = append(f.targets, ids...)
		}
	}
	endpoints, err := tx.Endpoints(orgID)
	if err != nil {
		return err
	}
	for _, e := range endpoints {
		if add(e.URL, e.ID); e.URL == "" {
			add(e.Label(), e.ID)
		}
	}
	keys, err := tx.APIKeys(orgID, "", MaxKeysNamed)
	if err != nil {
		return err
	}
	for _, k := range keys {
		add(k.Name, k.ID)
	}
	_, members, err := tx.ListMembers(orgID, Cursor{}, maxMembersNamed)
	if err != nil {
		return err
	}
	for _, m := range members {
		add(m.Name, m.ID, m.UserID)
	}
	if !ValidID(f.Target) {
		return nil
	}
	m, err := tx.Member(orgID, f.Target)
	if IsNotFound(err) {
		return nil
	}
	f.targets = append(f.targets, m.ID)
	return err
}

// maxAuditScanned is how many entries are read for a page of those that a filter selects.
const maxAuditScanned = 1000

// FindAudit reads up to limit of the entries that a filter selects after a cursor, oldest
// first, and appends the items to dst. A page may be short or empty while More is true: its
// Last is the position as far as it searched.
func FindAudit(tx Tx, orgID string, f AuditFilter, at Cursor, limit int, dst []byte) (Page, error) {
	if !f.Any() {
		return tx.AuditPage(orgID, at, limit, dst)
	}
	if err := f.FindTargets(tx, orgID); err != nil {
		return Page{}, err
	}
	if begin := f.Begin(); at.Compare(begin) < 0 {
		at = begin
	}
	found := Page{Items: dst, Last: at, More: true}
	for left, n := maxAuditScanned, limit+1; found.More && left > 0; left, n = left-n, min(2*n, left-n) {
		n = min(n, left)
		if more, err := f.addFound(tx, orgID, n, limit, &found); err != nil || !more {
			return found, err
		}
	}
	return found, nil
}

// addFound adds to a page what the filter selects of the next n entries, and reports whether
// the search goes on.
func (f AuditFilter) addFound(tx Tx, orgID string, n, limit int, found *Page) (goesOn bool, err error) {
	all, err := tx.AuditPage(orgID, found.Last, n, []byte{'['})
	if err != nil {
		return false, err
	}
	entries, err := AuditEntries(all)
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		switch {
		case f.EndsBefore(e.CreatedAt):
			found.More = false
			return false, nil
		case found.Count == limit:
			return false, nil
		case f.Matches(e):
			if found.Count > 0 {
				found.Items = append(found.Items, ',')
			}
			found.Items = e.AppendJSON(found.Items)
			found.Count++
		}
		found.Last = CursorOf(e.CreatedAt, e.ID)
	}
	found.More = all.More
	return true, nil
}

// AuditEntries are the entries of a page whose items follow an opening bracket.
func AuditEntries(page Page) (entries []AuditEntry, err error) {
	err = json.Unmarshal(append(page.Items, ']'), &entries)
	return entries, err
}

// AuditEnd returns the position of the last entry of an org's audit log; zero: it is empty.
func (t Tx) AuditEnd(orgID string) (Cursor, error) { return t.last(auditLog, orgID) }
