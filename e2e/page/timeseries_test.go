package page_test

import (
	"fmt"
	"strings"
	"time"

	"teamdata/store"
)

// passHour emits events and attempts what is waiting, with the outcomes of three
// receivers: one that is well, one that is slow, one that is dead.
func passHourOfDeliveries(tx store.Tx, hour int) error {
	for i := range 1 + (hour*7)%5 {
		data := fmt.Sprintf(`{"orgId":"org_acme","invoice":"inv_%d_%d","lines":[{"text":"seats & <b>more</b>","cents":%d}]}`, hour, i, 100*hour)
		if _, err := store.Emit(tx, "org_acme", "invoice.paid", []byte(data)); err != nil {
			return err
		}
	}
	if hour == 700 {
		if _, err := store.Emit(tx, "org_acme", "member.added", []byte(`{"orgId":"org_acme","userId":"usr_129"}`)); err != nil {
			return err
		}
	}
	endpoints, err := tx.Endpoints("org_acme")
	for i := range endpoints {
		if err == nil {
			err = attemptAll(tx, &endpoints[i], hour)
		}
	}
	return err
}

func attemptAll(tx store.Tx, e *store.Endpoint, hour int) error {
	if e.ID == "whe_idle" && hour == 715 {
		return store.DisableEndpoint(tx, "usr_ada", e.OrgID, e.ID)
	}
	due, _, err := tx.DeliveryPage(e.Number, store.ListWaiting, store.Cursor{}, 100)
	if err != nil || e.Disabled() {
		return err
	}
	for i, d := range due {
		if d.DueAt.After(tx.Now()) {
			continue
		}
		schedule := halves
		if e.ID == "whe_dead" {
			schedule = schedule[:1]
		}
		if _, err := store.RecordAttempt(tx, d.ID, outcome(tx.Now(), e.ID, hour, i), schedule); err != nil {
			return err
		}
	}
	return nil
}

// halves let nothing become due while the file is looked at: the addresses are
// none of this machine's.
var halves = []time.Duration{90 * time.Minute, 150 * time.Minute, 270 * time.Minute}

// outcome is that of one attempt at an endpoint.
func outcome(now time.Time, endpoint string, hour, i int) store.Attempt {
	a := store.Attempt{StartedAt: now, EndedAt: now.Add(time.Duration(20+hour%60) * time.Millisecond), Status: 204}
	switch {
	case endpoint == "whe_dead":
		a.Status, a.Reason = 0, "the host name old.acme.example was not found"
	case endpoint == "whe_fail" && hour > 705:
		a.Status, a.Reason, a.Answer = 500, "the receiver answered 500 Internal Server Error", []byte(`relation "invoices_2026" does not exist`)
	case endpoint == "whe_slow" && hour%24 > 5 && hour%24 < 9:
		a.EndedAt, a.Status, a.TimedOut, a.Reason = now.Add(15*time.Second), 0, true, "no answer within 15s"
	case endpoint == "whe_slow" && (hour+i)%9 == 0:
		a.Status, a.Reason, a.Answer = 503, "answered 503", []byte("<html><body><h1>503 Service Temporarily Unavailable</h1><p>"+strings.Repeat("upstream ", 40)+"</p></body></html>")
	case endpoint == "whe_slow":
		a.EndedAt = now.Add(time.Duration(300+hour%2400) * time.Millisecond)
	}
	return a
}
