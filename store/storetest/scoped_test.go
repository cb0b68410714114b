package storetest

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"teamdata/store"
	"teamdata/store/rows"
)

// inAnyScope are the methods of a transaction that need no scope: what is server-wide and
// only read, and what engines have read already.
var inAnyScope = strings.Fields("HTTPOnLoopback IsClaimed IsDisabled LoadClaims OpenEndpoint Plan Plans EventType EventTypes OperatorToken OperatorTokens Certificate")

// byID are those that find a record by its id alone. They show whose it is, and have the
// name of its type.
var byID = func() []string {
	names := []string{"Delivery", "ReadToDelete"}
	for _, k := range rows.Kinds() {
		if k.Only != nil {
			names = append(names, reflect.TypeOf(k.Records.New()).Elem().Name())
		}
	}
	return names
}()

// TestScopedKnowsEveryMethod calls each method of a transaction outside of its scope,
// for records that exist.
func TestScopedKnowsEveryMethod(t *testing.T) {
	for _, method := range methods() {
		if slices.Contains(inAnyScope, method.Name) || slices.Contains(byID, method.Name) {
			continue
		}
		args := method.zeros()
		for a := range args {
			if method.Type.In(a).Kind() == reflect.Int { // a limit
				args[a] = reflect.ValueOf(1)
			}
		}
		if method.Name == "LatestDeliveries" { // of any number of endpoints
			args[0], args[1] = reflect.ValueOf([]uint64{0}), reflect.ValueOf(store.DeliveryLists)
		}
		if strings.HasSuffix(method.Name, "Mail") && method.Type.In(0).Kind() == reflect.String { // whose org is that of the record
			args[0] = reflect.ValueOf("m")
		}
		records, complaints := zeroRecords(), &complaints{TB: t}
		records.PutMail(store.Mail{ID: "m"})
		tx := scoped(records.Tx, complaints, store.Scope{})
		results := reflect.ValueOf(tx).MethodByName(method.Name).Call(args)
		if err, _ := results[len(results)-1].Interface().(error); err == nil || complaints.n != 1 {
			t.Errorf("%s leaves the scope: error %v, complaints %d", method.Name, err, complaints.n)
		}
	}
}

// complaints counts the errors of a test that is to fail.
type complaints struct {
	testing.TB
	n int
}

func (c *complaints) Error(...any) { c.n++ }

// TestScopedShowsOwners: a record of another that is found by its id shows whose it
// is, and nothing else.
func TestScopedShowsOwners(t *testing.T) {
	o := newOracle()
	o.PutAPIKey(store.APIKey{ID: "k", OrgID: acme, Name: "N"})
	o.AddEvent(store.Event{ID: "e", OrgID: acme, Type: "T", Deliveries: []string{"d"}}, []store.Delivery{{ID: "d", OrgID: acme, EventID: "e", EventType: "T"}})
	o.PutSession(store.Session{ID: "s", UserID: ada, UserAgent: "A"})
	o.PutSignInLink(store.SignInLink{ID: "l", UserID: ada, ExpiresAt: epoch})
	for _, c := range []struct {
		scope                         store.Scope
		key, event, delivery, session bool
	}{
		{store.InOrg(acme), true, true, true, false},
		{store.OfUser(ada), false, false, false, true},
		{store.InOrg(other), false, false, false, false},
	} {
		tx := scoped(o.Tx, t, c.scope)
		k, errKey := tx.APIKey("k")
		e, errEvent := tx.Event("e")
		d, errDelivery := tx.Delivery("d")
		s, errSession := tx.Session("s")
		l, errLink := tx.SignInLink("l")
		if err := errors.Join(errKey, errEvent, errDelivery, errSession, errLink); err != nil {
			t.Fatal(err)
		}
		whole := []bool{k.Name != "", e.Type != "", d.EventType != "", s.UserAgent != "", !l.ExpiresAt.IsZero()}
		if want := []bool{c.key, c.event, c.delivery, c.session, c.session}; !slices.Equal(whole, want) {
			t.Errorf("in %+v: whole records %v, want %v", c.scope, whole, want)
		}
		owners := []string{k.OrgID, e.OrgID, d.OrgID, s.UserID, l.UserID}
		if want := []string{acme, acme, acme, ada, ada}; !slices.Equal(owners, want) {
			t.Errorf("in %+v: owners %v", c.scope, owners)
		}
	}
}

// TestScopedUpdate: an Update that leaves its scope fails, and so does its test; All is
// never left.
func TestScopedUpdate(t *testing.T) {
	o := newOracle()
	o.PutOrg(store.Org{ID: acme})
	for _, c := range []struct {
		scope store.Scope
		left  bool
	}{{store.All, false}, {store.InOrg(acme), false}, {store.InOrg(other), true}, {store.Scope{}, true}} {
		complaints := &complaints{TB: t}
		err := Scoped(complaints, onOracle{tx: o}).Update(context.Background(), c.scope, func(tx store.Tx) error {
			_, err := tx.Org(acme)
			return err
		})
		if left := err != nil && complaints.n == 1; left != c.left {
			t.Errorf("in %+v: error %v, complaints %d", c.scope, err, complaints.n)
		}
	}
}

// onOracle is a store whose transactions are all one of an oracle.
type onOracle struct {
	store.Store
	tx *oracle
}

func (s onOracle) Update(_ context.Context, _ store.Scope, fn func(store.Tx) error) error {
	return fn(s.tx.Tx)
}
