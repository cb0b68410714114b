package store

import (
	"time"

	"teamdata/store/rows"
)

// lastAcknowledged is when endpoints last acknowledged, by their numbers. Behind the time is,
// while an endpoint is in trouble, what makes its next acknowledgment a recovery.
var lastAcknowledged = rows.Define(&rows.Table[acknowledged]{
	Kind: rows.Kind{Name: "lastAcknowledged", Noun: "last acknowledgment", Rewritten: true, Owner: rows.NumberInKey},
	Key:  func(dst []byte, a *acknowledged) []byte { return rows.Number(dst, a.number) },
	Fields: func(c *rows.Codec, a *acknowledged) {
		row := rows.Number(nil, a.ms)
		if a.trouble != (trouble{}) {
			row = rows.Number(row, a.failing)
			if a.enabled {
				row = append(row, 1)
			}
		}
		c.Rest(&row)
		if !c.Reading() {
			return
		}
		if a.ms, a.damaged = rows.ReadNumber(row), len(row) != 8; len(row) == 16 || len(row) == 17 {
			a.failing, a.enabled, a.damaged = rows.ReadNumber(row[8:]), len(row) == 17, false
		}
	},
	Complete: func(key []byte, a *acknowledged) { a.number = rows.ReadNumber(key) },
	Checks: func(c *rows.Checker, key []byte, a *acknowledged) {
		checkNumber(c, "lastAcknowledged", a.number)
		if a.damaged {
			c.Fault("lastAcknowledged %q: holds no time", key)
		}
	},
})

type acknowledged struct {
	number, ms uint64
	trouble
	damaged bool
}

// trouble is that of an endpoint which may have to recover. Signals that are sent there don't
// count: one about their delivery would be followed by another, without an end.
type trouble struct {
	failing uint64 // ms since which each attempt failed; 0: the last one was acknowledged, or there was none
	enabled bool   // it was disabled, and has acknowledged nothing since it was enabled
}

// failingFor is how long an endpoint fails until an acknowledgment is a recovery.
const failingFor = time.Hour

// checkNumber checks that a number is of an endpoint, or of a removed one that is not yet
// forgotten.
func checkNumber(c *rows.Checker, kind string, number uint64) {
	key := rows.Number(nil, number)
	if !c.Once(kind + string(key)) {
		return
	}
	c.LookIn(&endpoints.Kind, endpointNumbers, rows.Only(string(key)), func(there bool) {
		if there {
			return
		}
		c.Look(&removedEndpoints.Kind, key, func(value []byte) {
			if value == nil {
				c.Fault("%s: there is no endpoint of the number %d", kind, number)
			}
		})
	})
}

// LastAcknowledged returns when an endpoint last acknowledged; zero: never.
func (t Tx) LastAcknowledged(endpoint uint64) (at time.Time, err error) {
	a, err := t.acknowledged(endpoint)
	if a.ms > 0 {
		at = time.UnixMilli(int64(a.ms)).UTC()
	}
	return at, err
}

func (t Tx) PutLastAcknowledged(endpoint uint64, at time.Time) error {
	a, err := t.acknowledged(endpoint)
	if err != nil {
		return err
	}
	a.ms = uint64(at.UnixMilli())
	return lastAcknowledged.Put(t.Tx, &a)
}

func (t Tx) acknowledged(endpoint uint64) (acknowledged, error) {
	a, err := findOrZero(lastAcknowledged, t, rows.Number(t.Text(""), endpoint))
	a.number = endpoint
	return a, err
}

// noteOutcome records when an endpoint last acknowledged, and since when all attempts there
// fail, and signals that it has recovered. Outcomes that waited for the disk are written in any
// order.
func noteOutcome(tx Tx, d *Delivery, a *Attempt) error {
	was, err := tx.acknowledged(d.EndpointNumber)
	if err != nil {
		return err
	}
	now, ms := was, uint64(max(a.EndedAt.UnixMilli(), 0))
	switch signal := IsSignal(d.EventType); {
	case !a.Acknowledged() && !signal && ms > was.ms && (was.failing == 0 || ms < was.failing):
		now.failing = ms
	case a.Acknowledged() && !signal && was.trouble != (trouble{}) && (was.enabled || ms >= was.failing):
		over := true
		if was.enabled || ms-was.failing >= uint64(failingFor.Milliseconds()) {
			over, err = signalRecovered(tx, d)
		}
		if over {
			now.trouble = trouble{}
		}
	}
	if a.Acknowledged() {
		now.ms = max(was.ms, ms)
	}
	if err != nil || now == was {
		return err
	}
	return lastAcknowledged.Put(tx.Tx, &now)
}

// noteEnabled records that an endpoint was disabled until now.
func noteEnabled(tx Tx, endpoint uint64) error {
	a, err := tx.acknowledged(endpoint)
	if err != nil {
		return err
	}
	a.enabled = true
	return lastAcknowledged.Put(tx.Tx, &a)
}
