package storetest

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"teamdata/store"
)

// TestWatchedKnowsEveryWrite calls each method of a transaction that writes, and
// finds that it can fail.
func TestWatchedKnowsEveryWrite(t *testing.T) {
	kind := reflect.TypeFor[store.Tx]()
	writes := 0
	for i := range kind.NumMethod() {
		method := kind.Method(i)
		if !isWrite(method.Name) {
			continue
		}
		writes++
		var args []reflect.Value
		for a := range method.Type.NumIn() {
			args = append(args, reflect.Zero(method.Type.In(a)))
		}
		if method.Name == "AppendMember" { // of a user who is no member yet
			args[0] = reflect.ValueOf(store.Member{UserID: "new", ID: "m"})
		}
		tx := watchInto(zeroRecords(), new(trace), func() error { return errFailing })
		results := reflect.ValueOf(tx).MethodByName(method.Name).Call(args)
		if err, _ := results[len(results)-1].Interface().(error); !errors.Is(err, errFailing) {
			t.Errorf("%s does not fail: %v", method.Name, err)
		}
	}
	if writes < 20 {
		t.Errorf("there are only %d writes", writes)
	}
}

func isWrite(method string) bool {
	for _, verb := range []string{"Put", "Add", "Append", "Delete", "Forget", "Expire", "Drop"} {
		if strings.HasPrefix(method, verb) {
			return true
		}
	}
	return false
}

// zeroRecords is a transaction in which the zero value of a record can be
// written, changed and deleted.
func zeroRecords() *oracle {
	o := newOracle()
	o.trace = &trace{ids: []string{store.PrefixAudit + "1"}, positions: []store.Cursor{{ID: "x"}}, numbers: []uint64{1}}
	o.AddEvent(store.Event{ID: "x"}, []store.Delivery{{EventID: "x"}})
	o.PutMember(store.Member{})
	o.PutOrg(store.Org{})
	o.PutAPIKey(store.APIKey{})
	o.PutSession(store.Session{})
	o.PutSignInLink(store.SignInLink{})
	o.PutReplayJob(store.ReplayJob{})
	o.AppendAudit(store.AuditEntry{ID: "x"})
	return o
}
