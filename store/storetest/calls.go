package storetest

import (
	"encoding/base64"
	"errors"
	"time"

	"teamdata/store"
)

// Rules with what they are given, to be run in an Update.

// second drops a rule's result.
func second[T any](_ T, err error) error { return err }

func createOrg(o store.Org) func(store.Tx) error {
	return func(tx store.Tx) error { return second(store.CreateOrg(tx, ada, o)) }
}

func renameOrg(org, name string) func(store.Tx) error {
	return func(tx store.Tx) error { return second(store.RenameOrg(tx, ada, org, name)) }
}

func subscribe(org string, to store.Subscription) func(store.Tx) error {
	return func(tx store.Tx) error { return changeSubscription(tx, org, to) }
}

func removePlan(name string) func(store.Tx) error {
	return func(tx store.Tx) error { return store.RemovePlan(tx, name) }
}

func changeMember(org, user string, c store.MemberChange) func(store.Tx) error {
	return func(tx store.Tx) error { return second(store.ChangeMember(tx, ada, org, user, c)) }
}

func newKey(k store.APIKey) func(store.Tx) error {
	return func(tx store.Tx) error {
		_, _, err := store.CreateKey(tx, ada, k)
		return err
	}
}

func createEndpoint(e store.Endpoint) func(store.Tx) error {
	return func(tx store.Tx) error { return second(store.CreateEndpoint(tx, ada, e)) }
}

func removeEndpoint(org, id string) func(store.Tx) error {
	return func(tx store.Tx) error { return store.RemoveEndpoint(tx, ada, org, id) }
}

func changeEndpoint(org, id string, c store.EndpointChange) func(store.Tx) error {
	return func(tx store.Tx) error { return second(store.ChangeEndpoint(tx, ada, org, id, c)) }
}

func switchEndpoint(org, id string, enabled bool) func(store.Tx) error {
	return func(tx store.Tx) error {
		if enabled {
			return store.EnableEndpoint(tx, ada, org, id)
		}
		return store.DisableEndpoint(tx, ada, org, id)
	}
}

// secretOf makes a secret of n bytes that begin with mark.
func secretOf(mark byte, n int) string {
	b := make([]byte, n)
	b[0] = mark
	return "whsec_" + base64.StdEncoding.EncodeToString(b)
}

func rotate(secret string, overlap time.Duration) func(store.Tx) error {
	return func(tx store.Tx) error {
		_, err := store.RotateSecret(tx, ada, acme, "whe_1", secret, overlap)
		return err
	}
}

func register(e store.EventType) func(store.Tx) error {
	return func(tx store.Tx) error {
		_, _, err := store.RegisterEventType(tx, e)
		return err
	}
}

func removeType(name string) func(store.Tx) error {
	return func(tx store.Tx) error { return store.RemoveEventType(tx, name) }
}

func uploadFile(id string) func(store.Tx) error {
	return func(tx store.Tx) error {
		return second(store.UploadFile(tx, ada, store.File{OrgID: acme, ID: id, Name: "a", ContentType: "b"}))
	}
}

func replay(id string) func(store.Tx) error {
	return func(tx store.Tx) error {
		_, err := store.Replay(tx, ada, acme, id)
		return err
	}
}

// addPeople adds to acme those who get its mail and those who don't.
func addPeople(tx store.Tx) error {
	var errs []error
	for _, m := range []store.Member{
		{OrgID: acme, UserID: "usr_2", Role: store.RoleAdmin, Name: "Bob", Email: "bob@acme.example"},
		{OrgID: acme, UserID: "usr_1", Role: store.RoleOwner, Name: "Ada", Email: "ada@acme.example"},
		{OrgID: acme, UserID: "usr_3", Role: store.RoleAdmin, Name: "without an address"},
		{OrgID: acme, UserID: "usr_4", Role: store.RoleMember, Email: "member@acme.example"},
		{OrgID: acme, UserID: "usr_5", Role: "guest", Email: "guest@acme.example"},
		{OrgID: other, UserID: "usr_6", Role: store.RoleOwner, Email: "owner@other.example"},
	} {
		_, err := store.ImportMember(tx, m)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func attempted(tx store.Tx, id string, started time.Time, status int, schedule []time.Duration) (disabled bool, err error) {
	a := store.Attempt{StartedAt: started, EndedAt: started.Add(time.Second), Status: status}
	if status != 200 {
		a.Reason = "not 2xx"
	}
	return store.RecordAttempt(tx, id, a, schedule)
}

// upload is a rule that sends an event.
func upload(tx store.Tx) error {
	_, err := store.UploadFile(tx, ada, store.File{OrgID: acme, Name: "a", ContentType: "b"})
	return err
}

func changeRole(tx store.Tx, actorID, orgID, userID, role string) error {
	_, err := store.ChangeMember(tx, actorID, orgID, userID, store.MemberChange{Role: &role})
	return err
}

func changeSubscription(tx store.Tx, orgID string, to store.Subscription) error {
	_, err := store.ChangeSubscription(tx, ada, orgID, to)
	return err
}

func addMember(tx store.Tx, m store.Member) error {
	_, err := store.AddMember(tx, ada, m)
	return err
}

func attemptNow(tx store.Tx, id string, a store.Attempt) error {
	a.StartedAt, a.EndedAt = tx.Now(), tx.Now()
	_, err := store.RecordAttempt(tx, id, a, []time.Duration{time.Minute})
	return err
}

func createKey(tx store.Tx, id string) error {
	_, err := store.ImportKey(tx, store.APIKey{ID: id, OrgID: acme, Scopes: store.ScopeRead, CreatedBy: ada})
	return err
}

func addRecord(tx store.Tx, key string) error {
	return tx.AddIdempotencyRecord(store.IdempotencyRecord{
		OrgID: acme, Key: key, FirstUse: tx.Now(), Answer: store.Answer{Status: 200, ContentType: "application/json", Body: []byte("{}")},
	})
}
