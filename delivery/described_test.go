package delivery

import (
	"net/http"
	"sync"
	"testing"

	"teamdata/internal/openapitest"
	"teamdata/server/openapi"
	"teamdata/store"
)

// described is what receivers are told that they get.
var described = sync.OnceValue(func() *openapitest.Contract {
	document, _ := openapi.Of("2026-10-06")
	contract, err := openapitest.Read(document.JSON)
	if err != nil {
		panic(err)
	}
	return contract
})

// holdsToDescription complains of a request that is not as the API's description
// has it. Tests of the sender alone send an empty object, which is no event;
// benchmarks don't wait for it.
func holdsToDescription(t testing.TB, header http.Header, body []byte) {
	if _, measured := t.(*testing.B); measured || string(body) == "{}" {
		return
	}
	for _, fault := range described().WebhookFaults(header, body) {
		t.Errorf("not as in openapi.yaml: %s\n%s", fault, body)
	}
}

// Each event of the contract goes out as it is described; newReceiver looks at
// what comes.
func TestEventsAreSentAsDescribed(t *testing.T) {
	b := newBench(t)
	r := newReceiver(t, nil)
	e := b.endpoint(r.URL, store.BuiltInEventTypes...)
	b.run(Config{RootCAs: r.roots()})
	for _, happens := range []func(store.Tx) error{
		func(tx store.Tx) error {
			_, err := store.AddMember(tx, "", store.Member{OrgID: testOrg, UserID: "usr_zoe", Role: "member", Name: "Zoë"})
			return err
		},
		func(tx store.Tx) error { return store.RemoveMember(tx, "", testOrg, "usr_zoe") },
		func(tx store.Tx) error {
			_, err := store.ChangeSubscription(tx, "", testOrg, store.Subscription{Plan: "business"})
			return err
		},
		func(tx store.Tx) error {
			_, err := store.UploadFile(tx, "", store.File{OrgID: testOrg, Name: "a.pdf", ContentType: "application/pdf", Size: 1 << 40})
			return err
		},
		func(tx store.Tx) error { return store.SetInstructions(tx, "", testOrg, "", false) },
		func(tx store.Tx) error { _, err := store.SendTest(tx, testOrg, e.ID); return err },
	} {
		b.update(happens)
	}
	for range store.BuiltInEventTypes {
		r.next(t)
	}
}
