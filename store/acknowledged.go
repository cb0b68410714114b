package store

import (
	"time"

	"teamdata/store/rows"
)

// lastAcknowledged is when endpoints last acknowledged, by their numbers.
var lastAcknowledged = rows.Define(&rows.Table[acknowledged]{
	Kind: rows.Kind{Name: "lastAcknowledged", Noun: "last acknowledgment", Rewritten: true, Owner: rows.NumberInKey},
	Key:  func(dst []byte, a *acknowledged) []byte { return rows.Number(dst, a.number) },
	Fields: func(c *rows.Codec, a *acknowledged) {
		ms := rows.Number(nil, a.ms)
		if c.Rest(&ms); c.Reading() {
			a.ms, a.damaged = rows.ReadNumber(ms), len(ms) != 8
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
	damaged    bool
}

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
	a, err := findOrZero(lastAcknowledged, t, rows.Number(t.Text(""), endpoint))
	if a.ms > 0 {
		at = time.UnixMilli(int64(a.ms)).UTC()
	}
	return at, err
}

func (t Tx) PutLastAcknowledged(endpoint uint64, at time.Time) error {
	return lastAcknowledged.Put(t.Tx, &acknowledged{number: endpoint, ms: uint64(at.UnixMilli())})
}
