package settings

import (
	"net/url"
	"strings"
	"time"

	"teamdata/store"
)

// auditFilter says which entries of the audit log are shown or exported.
type auditFilter struct {
	Actor     string // who did it; empty: anybody
	Action    string // what it begins with
	Target    string // what it was done to; empty: anything
	SinceText string // as the form has it
	UntilText string

	Since time.Time // the first; zero: from the beginning
	Until time.Time // behind the last; zero: to the end
}

// auditFilterOf is the filter that a query asks for, before parse.
func auditFilterOf(query url.Values) auditFilter {
	return auditFilter{
		Actor: query.Get("actor"), Action: query.Get("action"), Target: query.Get("target"),
		SinceText: query.Get("since"), UntilText: query.Get("until"),
	}
}

// values are the filter as a query.
func (f auditFilter) values() url.Values {
	values := url.Values{}
	for name, value := range map[string]string{
		"actor": f.Actor, "action": f.Action, "target": f.Target, "since": f.SinceText, "until": f.UntilText,
	} {
		if value != "" {
			values.Set(name, value)
		}
	}
	return values
}

// Any tells whether the filter leaves anything out.
func (f auditFilter) Any() bool { return len(f.values()) > 0 }

// parse reads the times.
func (f *auditFilter) parse() (err error) {
	if f.Since, err = parseMinute("since", f.SinceText); err != nil {
		return err
	}
	f.Until, err = parseMinute("until", f.UntilText)
	return err
}

// parseMinute reads what a datetime-local input sends, in UTC; empty: the zero
// time.
func parseMinute(field, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05"} {
		if t, err := time.Parse(layout, text); err == nil && t.Unix() >= 0 {
			return t, nil
		}
	}
	return time.Time{}, store.Invalid(field, "must be a date and time such as 2030-12-31T18:30, not before 1970")
}

// match tells whether an entry is one that the filter shows.
func (f auditFilter) match(e store.AuditEntry) bool {
	return (f.Actor == "" || e.ActorID == f.Actor) && (f.Target == "" || e.TargetID == f.Target) &&
		strings.HasPrefix(e.Action, f.Action) && !e.CreatedAt.Before(f.Since) &&
		(f.Until.IsZero() || e.CreatedAt.Before(f.Until))
}

// end is the position behind the last entry before Until; zero without one.
func (f auditFilter) end() store.Cursor {
	if f.Until.IsZero() {
		return store.Cursor{}
	}
	return store.CursorOf(f.Until, " ") // before every id
}

// start is the position before the first entry since Since.
func (f auditFilter) start() store.Cursor {
	if f.Since.IsZero() {
		return store.Cursor{}
	}
	return store.CursorOf(f.Since, " ")
}
