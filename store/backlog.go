package store

import "time"

// Limits of a Backlog's counts, to keep counting a large queue cheap.
const (
	MaxCountedDeliveries = 100_000
	MaxCountedMails      = 1000
)

// Waiting counts waiting deliveries: those in a ListWaiting, neither acknowledged
// nor failed. Each is due, due later, or held.
type Waiting struct {
	Due    int  // due now
	Later  int  // due later
	Held   int  // their endpoint is disabled, whenever they are due
	Capped bool // there are more than were counted
}

// Total returns the number of waiting deliveries.
func (w Waiting) Total() int { return w.Due + w.Later + w.Held }

// Add counts one more delivery unless most are counted already, and reports
// whether it did.
func (w *Waiting) Add(held, later bool, most int) bool {
	switch {
	case w.Total() >= most:
		w.Capped = true
		return false
	case held:
		w.Held++
	case later:
		w.Later++
	default:
		w.Due++
	}
	return true
}

// Backlog is what waits to be sent in all orgs, for the status and the metrics.
type Backlog struct {
	Waiting           // deliveries, up to MaxCountedDeliveries
	Busy    int       // enabled endpoints with waiting deliveries
	DueAt   time.Time // of the earliest delivery that is not held; zero: there is none
	HeldAt  time.Time // since when the oldest has been held; zero: there is none
	Mails   int       // waiting messages, up to MaxCountedMails
	MailsAt time.Time // when the oldest of them was queued; zero: there is none
}
