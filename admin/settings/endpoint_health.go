package settings

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"teamdata/store"
)

// Bounds by which an endpoint is judged.
const (
	maxWaiting    = 1000 // how far waiting deliveries are counted
	judgedLatest  = 10   // of the latest deliveries
	failingLatest = 2    // how many of them are unsuccessful where an endpoint fails
	failingTries  = 3    // unsuccessful attempts of two hours that make an endpoint suspect,
	failingShare  = 5    // if they are at least one in so many
)

// The states of an endpoint, as people see them.
const (
	stateActive   = "active"
	stateFailing  = "failing"
	stateDisabled = "disabled"
	stateSilent   = "silent" // nobody pulls what waits
)

// health is how the deliveries to an endpoint went lately.
type health struct {
	point            // of the last 24 hours
	State            string
	LastAcknowledged time.Time
	Waiting          store.Waiting   // up to maxWaiting
	LastError        *store.Delivery // whose last attempt was unsuccessful; nil: there is none, or the endpoint does well
	Since            time.Time       // the hour since which it has been failing, or when it was disabled; zero: unknown
	By               person          // who disabled it; zero: nobody is known
	Pull             pulling         // of an endpoint that is pulled
}

// ManyWaiting reports whether so many deliveries are waiting that the endpoint needs
// attention.
func (h health) ManyWaiting() bool { return h.Waiting.Total() >= manyWaiting }

// Success formats the share of the attempts that were acknowledged.
func (h health) Success() string { return formatShare(h.Acknowledged, h.Total()) }

// Last is the last attempt of the last error; nil without an error.
func (h health) Last() *store.Attempt { return h.LastError.LastAttempt() }

// failureText says in a few words why an attempt failed: its status and what the answer
// says, or the reason.
func failureText(a *store.Attempt) string {
	switch said := a.AnswerLine(); {
	case a.Status == 0:
		return upperFirst(a.Reason)
	case said != "":
		return strconv.Itoa(a.Status) + ": " + said
	}
	return statusText(a.Status)
}

// statusText is a status with its name, such as 500 Internal Server Error.
func statusText(status int) string {
	return strings.TrimSpace(strconv.Itoa(status) + " " + http.StatusText(status))
}

func upperFirst(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// unsuccessfulLists hold the deliveries that were attempted and not acknowledged, and
// attemptedLists all that were attempted: a delivery that waits for its first attempt
// doesn't tell anything about the endpoint.
var (
	unsuccessfulLists = []store.DeliveryList{store.ListAttempted, store.ListFailed}
	attemptedLists    = append(unsuccessfulLists, store.ListAcknowledged)
)

// judge finds the state of an endpoint, and its last error. An enabled endpoint fails
// when its last attempt was unsuccessful and nothing was acknowledged since, or when
// many attempts of the last hours were and some of the latest still are.
func (h *health) judge(r *request, tx store.Tx, e *store.Endpoint, recent point) (err error) {
	if h.LastAcknowledged, err = tx.LastAcknowledged(e.Number); err != nil {
		return err
	}
	if h.State = stateActive; e.Disabled() {
		h.State = stateDisabled
	}
	switch {
	case e.Pull():
		return h.judgePulled(r, tx, e)
	case e.Disabled():
		return nil
	}
	latest, err := tx.LatestDeliveries([]uint64{e.Number}, unsuccessfulLists, store.Cursor{}, failingTries)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(latest, lastAttemptFailed)
	if i < 0 {
		return nil
	}
	failing := latest[i].ShownAt().After(h.LastAcknowledged)
	if !failing && isSuspect(recent) {
		failing, err = h.stillFails(tx, e)
	}
	if failing {
		h.State, h.LastError = stateFailing, &latest[i]
	}
	return err
}

// isSuspect reports whether many of the attempts were unsuccessful.
func isSuspect(p point) bool {
	return p.Unsuccessful() >= failingTries && p.Unsuccessful()*failingShare >= p.Total()
}

// stillFails reports whether some of the latest deliveries are unsuccessful.
func (h *health) stillFails(tx store.Tx, e *store.Endpoint) (bool, error) {
	latest, err := tx.LatestDeliveries([]uint64{e.Number}, attemptedLists, store.Cursor{}, judgedLatest)
	latest = slices.DeleteFunc(latest, func(d store.Delivery) bool { return !lastAttemptFailed(d) })
	return len(latest) >= failingLatest, err
}

// lastAttemptFailed reports whether the latest attempt of a delivery was unsuccessful.
func lastAttemptFailed(d store.Delivery) bool {
	a := d.LastAttempt()
	return a != nil && !a.Acknowledged()
}

// failingSince is the start of the unbroken run of hours in which every attempt failed, up
// to now; zero: attempts of the last hour that has any were acknowledged.
func failingSince(hours timeSeries) (since time.Time) {
	for _, p := range slices.Backward(hours.Points) {
		if p.Total() > 0 {
			if p.Unsuccessful() == 0 {
				return since
			}
			since = p.From
		}
	}
	return since
}

// endpointRow is an endpoint in a list.
type endpointRow struct {
	store.Endpoint
	Health health
	Hours  timeSeries // the last 24
}

// Reason is in a few words why an endpoint is in trouble; empty: it is not.
func (e endpointRow) Reason() string {
	switch h := e.Health; {
	case e.Disabled() && e.DisabledReason != "":
		return "after " + e.DisabledReason
	case e.Disabled() && h.By.Name != "":
		return "by " + h.By.Name
	case e.Disabled():
		return "by System"
	case h.State == stateFailing:
		return failureText(h.Last())
	case h.State == stateSilent && h.Pull.At.IsZero():
		return "nobody has pulled yet; " + h.waitingText()
	case h.State == stateSilent:
		return "nobody pulls; " + h.waitingText()
	case h.ManyWaiting():
		return h.waitingText()
	}
	return ""
}

// waitingText says how many deliveries wait.
func (h health) waitingText() string {
	if h.Waiting.Total() == 1 {
		return "1 delivery is waiting"
	}
	return formatWaiting(h.Waiting) + " deliveries are waiting"
}

// rank orders endpoints: those in trouble first.
func (e endpointRow) rank() int {
	switch {
	case e.Health.State == stateFailing:
		return 0
	case e.Disabled():
		return 1
	case e.Health.State == stateSilent:
		return 2
	case e.Health.ManyWaiting():
		return 3
	}
	return 4
}

// rows are endpoints with their health, of the last 24 hours.
func (r *request) rows(tx store.Tx, endpoints []store.Endpoint) ([]endpointRow, error) {
	rows, places := make([]endpointRow, len(endpoints)), map[uint64]*endpointRow{}
	for i, e := range endpoints {
		rows[i] = endpointRow{Endpoint: e, Hours: newTimeSeries(r.Now, time.Hour, 24, time.UTC)}
		places[e.Number] = &rows[i]
	}
	err := tx.EachDeliveryCounts(r.Org.ID, r.Now.Add(-23*time.Hour), func(endpoint uint64, hour time.Time, c store.DeliveryCounts) {
		if row := places[endpoint]; row != nil {
			row.Hours.add(hour, c)
		}
	})
	for i := range rows {
		if err == nil {
			err = r.findHealth(tx, &rows[i])
		}
	}
	return rows, err
}

func (r *request) findHealth(tx store.Tx, row *endpointRow) (err error) {
	h, points, recent := &row.Health, row.Hours.Points, point{}
	h.point = row.Hours.sum()
	for _, p := range points[len(points)-2:] {
		recent.Add(p.DeliveryCounts)
	}
	if err = h.judge(r, tx, &row.Endpoint, recent); err != nil {
		return err
	}
	switch h.State {
	case stateFailing:
		if h.Since = failingSince(row.Hours); !h.Since.IsZero() && h.Since.Before(row.CreatedAt) { // within that hour
			h.Since = row.CreatedAt
		}
	case stateSilent:
		h.Since = later(h.Pull.At, row.CreatedAt)
	case stateDisabled:
		h.Since = row.DisabledAt
		if row.DisabledBy != "" {
			h.By, err = r.person(tx, row.DisabledBy)
		}
	}
	if err == nil {
		h.Waiting, err = tx.CountWaiting(row.Endpoint, maxWaiting)
	}
	return err
}
