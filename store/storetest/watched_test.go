package storetest

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"teamdata/store"
	"teamdata/store/rows"
)

// TestWatchedKnowsEveryWrite calls each method of a transaction that writes, and
// finds that it can fail.
func TestWatchedKnowsEveryWrite(t *testing.T) {
	writes := 0
	for _, method := range methods() {
		if !isWrite(method.Name) {
			continue
		}
		writes++
		args := method.zeros()
		if method.Name == "AppendMember" { // of a user who is no member yet
			args[0] = reflect.ValueOf(store.Member{UserID: "new", ID: "m"})
		}
		tx := watchInto(zeroRecords().Tx, new(trace), func() error { return errFailing })
		results := reflect.ValueOf(tx).MethodByName(method.Name).Call(args)
		if err, _ := results[len(results)-1].Interface().(error); !errors.Is(err, errFailing) {
			t.Errorf("%s does not fail: %v", method.Name, err)
		}
	}
	if writes < 20 {
		t.Errorf("there are only %d writes", writes)
	}
}

// method is one of a transaction, as it is called.
type method struct {
	Name string
	Type reflect.Type
}

// methods are those that nouns have, and what is apart from rows.
func methods() (all []method) {
	tx := reflect.ValueOf(store.Tx{Tx: new(rows.Tx), Apart: newOracle()})
	for i := range tx.NumMethod() {
		name := tx.Type().Method(i).Name
		if _, ofRows := reflect.TypeFor[*rows.Tx]().MethodByName(name); !ofRows {
			all = append(all, method{name, tx.Method(i).Type()})
		}
	}
	return all
}

func (m method) zeros() (args []reflect.Value) {
	for a := range m.Type.NumIn() {
		args = append(args, reflect.Zero(m.Type.In(a)))
	}
	return args
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
	o.trace = &trace{ids: []string{store.PrefixAudit + "1"}, numbers: []uint64{1}}
	o.AddEvent(store.Event{ID: "x"}, []store.Delivery{{EventID: "x"}})
	o.PutMember(store.Member{})
	o.PutOrg(store.Org{})
	for _, k := range rows.Kinds() {
		if k.Only != nil && k != deliveryKind && k.Name != "events" { // it is found by its id
			o.model.Write(k, &rows.Row{Key: []byte{}, Value: k.Records.Encode(k.Records.New())})
		}
	}
	o.AppendAudit(store.AuditEntry{ID: "x"})
	return o
}
