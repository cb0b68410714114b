package storetest

import (
	"strings"
	"time"

	"teamdata/store/rows"
)

// pair is a key of two parts, the first mostly an org.
type pair struct{ a, b string }

func (o *oracle) Now() time.Time { return o.now }

func (o *oracle) NewID(prefix string) string {
	id := take(&o.ids, "new id "+prefix)
	if !strings.HasPrefix(id, prefix) {
		panic("the oracle asks for a new id " + prefix + ", and the engine gave " + id)
	}
	return id
}

// Number is that of an endpoint.
func (o *oracle) Number(*rows.Kind) uint64 {
	number := take(&o.numbers, "number")
	if o.given[number] {
		panic("the engine gave an endpoint's number again")
	}
	o.given.keep(number, true)
	return number
}

func (o *oracle) HTTPOnLoopback() bool { return false }

// ForgetOrg forgets the positions of its lists, too.
func (o *oracle) ForgetOrg(id string) error {
	o.highest.drop(pair{"members", id})
	o.highest.drop(pair{"audit log", id})
	return o.Nouns.ForgetOrg(id)
}
