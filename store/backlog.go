package store

import "time"

// Where the counting of a Backlog ends, so that counting a large queue stays
// cheap.
const (
	MaxCountedDeliveries = 100_000
	MaxCountedMails      = 1000
)

// Waiting counts the deliveries that wait: those of a ListWaiting, which are neither
// acknowledged nor failed. Each of them is due, due later, or held.
type Waiting struct {
	Due    int  // their time has come
	Later  int  // their retry comes later
	Held   int  // their endpoint is disabled, whenever they are due
	Capped bool // there are more than were counted
}

// Total counts all that wait.
func (w Waiting) Total() int { return w.Due + w.Later + w.Held }

// Add counts one more delivery, unless most are counted already; it tells whether
// it did.
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

// Backlog is what waits to be sent, in all orgs. The status and the metrics show it.
type Backlog struct {
	Waiting           // deliveries, up to MaxCountedDeliveries
	Busy    int       // endpoints with deliveries that wait, without the disabled
	DueAt   time.Time // of the earliest delivery that is not held; zero: there is none
	HeldAt  time.Time // since when the oldest is held; zero: there is none
	Mails   int       // messages that wait, up to MaxCountedMails
	MailsAt time.Time // when the oldest of them was queued; zero: there is none
}
