package store

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"teamdata/internal/canonical"
)

// DeliveryFilter selects deliveries of an org. Its zero value selects all.
type DeliveryFilter struct {
	Endpoint string    // id; empty: all of the org
	State    string    // of the deliveries; empty: any; see DeliveryFilterStates
	Type     string    // of the events, or a group such as member.*; empty: any
	Status   string    // of the last attempt: 500, 4xx, or none for no answer; empty: any
	Since    time.Time // of the last attempt; zero: no bound; see [Delivery.ShownAt]
	Until    time.Time // before which that was; zero: no bound
	Query    string    // id of a delivery or an event; empty: any
}

// DeliveryFilterStates are what [DeliveryFilter.State] may be. waiting is any of
// pending, retrying and held; unsuccessful is failed, and retrying at an endpoint that
// may be disabled.
var DeliveryFilterStates = []string{"waiting", "failed", "acknowledged", "unsuccessful", "pending", "retrying", "held", "leased"}

// DeliveryFilterFields are the names of a filter's fields in queries, in the order in
// which they are parsed.
var DeliveryFilterFields = []string{"endpoint", "state", "type", "status", "since", "until", "q"}

// Matches reports whether the filter selects a delivery to an endpoint.
func (f DeliveryFilter) Matches(d *Delivery, e *Endpoint) bool {
	at := d.ShownAt()
	return (f.Endpoint == "" || f.Endpoint == d.EndpointID) &&
		(f.Type == "" || selects(f.Type, d.EventType)) &&
		(f.Query == "" || f.Query == d.ID || f.Query == d.EventID) &&
		!at.Before(f.Since) && (f.Until.IsZero() || at.Before(f.Until)) &&
		f.matchesState(d, e) && f.matchesStatus(d)
}

func (f DeliveryFilter) matchesState(d *Delivery, e *Endpoint) bool {
	switch f.State {
	case "":
		return true
	case "waiting":
		return d.State.Waiting()
	case "unsuccessful":
		return d.State == StateFailed || d.State == StateRetrying
	}
	return d.StateAt(e).String() == f.State
}

func (f DeliveryFilter) matchesStatus(d *Delivery) bool {
	if f.Status == "" {
		return true
	}
	if len(d.History) == 0 {
		return false
	}
	last := d.History[len(d.History)-1].Status
	if f.Status == "none" {
		return last == 0
	}
	if class, ok := strings.CutSuffix(f.Status, "xx"); ok {
		return strconv.Itoa(last/100) == class
	}
	return strconv.Itoa(last) == f.Status
}

// ParseDeliveryFilter parses a filter whose fields get returns by their names in
// DeliveryFilterFields. since and until are what bound parses, as the first moment of a
// time and the one after its last. nil: RFC 3339, or date and time in UTC, where until
// includes the second or minute that it names. badRequest names the field.
func ParseDeliveryFilter(get func(name string) string, bound func(field, text string) (first, end time.Time, err error)) (f DeliveryFilter, err error) {
	f = DeliveryFilter{
		Endpoint: get("endpoint"), State: get("state"), Type: get("type"),
		Status: strings.ToLower(get("status")), Query: strings.TrimSpace(get("q")),
	}
	if err := f.check(); err != nil {
		return DeliveryFilter{}, err
	}
	if bound == nil {
		bound = filterTime
	}
	if f.Since, f.Until, err = parsePeriod(get, bound); err != nil {
		return DeliveryFilter{}, err
	}
	return f, nil
}

// parsePeriod parses since and until by bound.
func parsePeriod(get func(name string) string, bound func(field, text string) (first, end time.Time, err error)) (since, until time.Time, err error) {
	if since, _, err = bound("since", get("since")); err == nil {
		_, until, err = bound("until", get("until"))
	}
	if err == nil && !until.IsZero() && until.Before(since) {
		err = Invalid("until", "must not be before since")
	}
	return since, until, err
}

func (f DeliveryFilter) check() error {
	switch {
	case f.Endpoint != "" && !ValidID(f.Endpoint):
		return Invalid("endpoint", "must be the id of an endpoint")
	case f.State != "" && !slices.Contains(DeliveryFilterStates, f.State):
		return Invalid("state", "must be waiting, pending, retrying, held, leased, failed, unsuccessful or acknowledged").Advise("leave it out for all")
	case len(f.Type) > maxTypeFilter:
		return Invalid("type", "must be the name of an event type, or a group such as member.*")
	case f.Status != "" && !validStatus(f.Status):
		return Invalid("status", "must be a status of 100 to 599, a class such as 5xx, or none for no answer")
	case f.Query != "" && (!ValidID(f.Query) || !strings.HasPrefix(f.Query, PrefixDelivery) && !strings.HasPrefix(f.Query, PrefixEvent)):
		return Invalid("q", "must be a webhook-id, which begins with %s, or the id of an event, which begins with %s", PrefixDelivery, PrefixEvent)
	}
	return nil
}

const maxTypeFilter = 200 // bytes

func validStatus(text string) bool {
	if text == "none" {
		return true
	}
	class := strings.TrimSuffix(text, "xx")
	n, err := strconv.Atoi(class)
	if class != text {
		return err == nil && len(class) == 1 && n >= 1 && n <= 5
	}
	return err == nil && len(text) == 3 && n >= 100 && n <= 599
}

// filterForms are the forms of a time without a zone, with how long each lasts.
var filterForms = []struct {
	form  string
	lasts time.Duration
}{
	{"2006-01-02T15:04:05", time.Second}, {"2006-01-02 15:04:05", time.Second}, {"2 Jan 2006, 15:04:05", time.Second},
	{"2006-01-02T15:04", time.Minute}, {"2006-01-02 15:04", time.Minute},
}

// filterTime parses a bound, as its first moment and the one after its last.
func filterTime(field, text string) (first, end time.Time, err error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return first, end, nil
	}
	if t, ok := canonical.DateTime(text); ok {
		first, end = t.UTC(), t.UTC()
	}
	text = strings.TrimSuffix(text, " UTC")
	for _, f := range filterForms {
		if t, err := time.Parse(f.form, text); err == nil {
			first, end = t, t.Add(f.lasts)
		}
	}
	if first.Before(time.UnixMilli(0)) || first.After(MaxTime) {
		return time.Time{}, time.Time{}, Invalid(field, "must be a date and time such as 2030-12-31 18:30:00, not before 1970")
	}
	return first, end, nil
}

// Values are the filter's fields as [ParseDeliveryFilter] takes them, names and values
// in turn. Times are exact.
func (f DeliveryFilter) Values() []string {
	return []string{"endpoint", f.Endpoint, "state", f.State, "type", f.Type, "status", f.Status,
		"since", filterText(f.Since), "until", filterText(f.Until), "q", f.Query}
}

func filterText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}
