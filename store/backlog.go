package store

import "time"

// Where the counting of a Backlog ends, so that counting a large queue stays
// cheap.
const (
	MaxCountedDeliveries = 100_000
	MaxCountedMails      = 1000
)

// Backlog is what waits to be sent, in all orgs. The status, the metrics and the
// pages of operators all show this.
type Backlog struct {
	Due     int       // deliveries whose time has come
	Later   int       // those whose retry comes later
	Held    int       // those of disabled endpoints
	Busy    int       // endpoints with deliveries that wait, without the disabled
	Capped  bool      // there are more than MaxCountedDeliveries, which are counted
	DueAt   time.Time // of the earliest, without those that are held; zero: there is none
	Mails   int       // that wait, up to MaxCountedMails
	MailsAt time.Time // when the oldest of them was queued; zero: there is none
}

// Count counts a delivery that waits.
func (b *Backlog) Count(held, later bool) {
	switch {
	case held:
		b.Held++
	case later:
		b.Later++
	default:
		b.Due++
	}
}
