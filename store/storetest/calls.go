package storetest

import (
	"encoding/base64"
	"time"

	"teamdata/store"
)

// Rules with what they are given, to be run in an Update.

// second drops a rule's result.
func second[T any](_ T, err error) error { return err }

func createOrg(o store.Org) rule {
	return func(tx store.Tx) error { return second(store.CreateOrg(tx, ada, o)) }
}

func renameOrg(org, name string) rule {
	return func(tx store.Tx) error { return second(store.RenameOrg(tx, ada, org, name)) }
}

func subscribe(org string, to store.Subscription) rule {
	return func(tx store.Tx) error { return changeSubscription(tx, org, to) }
}

func removePlan(name string) rule {
	return func(tx store.Tx) error { return store.RemovePlan(tx, name) }
}

func changeMember(org, user string, c store.MemberChange) rule {
	return func(tx store.Tx) error { return second(store.ChangeMember(tx, ada, org, user, c)) }
}

func newKey(k store.APIKey) rule {
	return func(tx store.Tx) error {
		_, _, err := store.CreateKey(tx, ada, k)
		return err
	}
}

func createEndpoint(e store.Endpoint) rule {
	return func(tx store.Tx) error { return second(store.CreateEndpoint(tx, ada, e)) }
}

func removeEndpoint(org, id string) rule {
	return func(tx store.Tx) error { return store.RemoveEndpoint(tx, ada, org, id) }
}

func changeEndpoint(org, id string, c store.EndpointChange) rule {
	return func(tx store.Tx) error { return second(store.ChangeEndpoint(tx, ada, org, id, c)) }
}

func switchEndpoint(org, id string, enabled bool) rule {
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

func rotate(org, id, secret string, overlap time.Duration) rule {
	return func(tx store.Tx) error { return second(store.RotateSecret(tx, ada, org, id, secret, overlap)) }
}

func register(e store.EventType) rule {
	return func(tx store.Tx) error {
		_, _, err := store.RegisterEventType(tx, e)
		return err
	}
}

func removeType(name string) rule {
	return func(tx store.Tx) error { return store.RemoveEventType(tx, name) }
}

func uploadFile(org, id string) rule {
	return func(tx store.Tx) error {
		return second(store.UploadFile(tx, ada, store.File{OrgID: org, ID: id, Name: "a", ContentType: "b"}))
	}
}

func replay(org, id string) rule {
	return func(tx store.Tx) error { return second(store.Replay(tx, ada, org, id)) }
}

func sendTest(org, id string) rule {
	return func(tx store.Tx) error { return second(store.SendTest(tx, org, id)) }
}

func removeMember(org, user string) rule {
	return func(tx store.Tx) error { return store.RemoveMember(tx, ada, org, user) }
}

func setInstructions(org, text string, set bool) rule {
	return func(tx store.Tx) error { return store.SetInstructions(tx, ada, org, text, set) }
}

func revokeKey(org, id string) rule {
	return func(tx store.Tx) error { return store.RevokeKey(tx, ada, org, id) }
}

// attempt is one that took a second until now. Any status but 200 is a failure.
func attempt(id string, status int, schedule []time.Duration) rule {
	return func(tx store.Tx) error {
		a := store.Attempt{StartedAt: tx.Now().Add(-time.Second), EndedAt: tx.Now(), Status: status}
		if status != 200 {
			a.Reason = "not 2xx"
		}
		return second(store.RecordAttempt(tx, id, a, schedule))
	}
}

// upload is a rule that sends an event.
func upload(tx store.Tx) error { return uploadFile(acme, "")(tx) }

func changeRole(tx store.Tx, actorID, orgID, userID, role string) error {
	return second(store.ChangeMember(tx, actorID, orgID, userID, store.MemberChange{Role: &role}))
}

func changeSubscription(tx store.Tx, orgID string, to store.Subscription) error {
	return second(store.ChangeSubscription(tx, ada, orgID, to))
}

func addMember(tx store.Tx, m store.Member) error {
	return second(store.AddMember(tx, ada, m))
}

func createKey(tx store.Tx, id string) error {
	return second(store.ImportKey(tx, store.APIKey{ID: id, OrgID: acme, Scopes: store.ScopeRead, CreatedBy: ada}))
}

func addRecord(tx store.Tx, key string) error {
	return tx.AddIdempotencyRecord(store.IdempotencyRecord{
		OrgID: acme, Key: key, FirstUse: tx.Now(), Answer: store.Answer{Status: 200, ContentType: "application/json", Body: []byte("{}")},
	})
}
