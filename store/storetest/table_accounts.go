package storetest

import (
	"errors"
	"time"

	"teamdata/store"
)

const eve = "usr_eve"

// fillAccounts makes eve an admin of acme and other, and gives her an account,
// and one to bob, of whom it knows a session, a sign-in link and a passkey.
func fillAccounts(tx store.Tx) error {
	ago := tx.Now().Add(-time.Hour)
	session := store.Session{ID: "ses_1", UserID: bob, SecretHash: store.HashSecret(known), CreatedAt: ago, LastSeenAt: ago}
	link := store.SignInLink{ID: "sil_1", UserID: bob, SecretHash: store.HashSecret(known), CreatedAt: tx.Now(), ExpiresAt: tx.Now().Add(time.Hour)}
	_, errAcme := store.ImportMember(tx, store.Member{OrgID: acme, UserID: eve, Role: store.RoleAdmin})
	_, errOther := store.ImportMember(tx, store.Member{OrgID: other, UserID: eve, Role: store.RoleAdmin})
	return errors.Join(errAcme, errOther,
		tx.PutSession(session), tx.PutSession(store.Session{ID: "ses_2", UserID: bob, CreatedAt: ago, LastSeenAt: ago}), tx.PutSignInLink(link),
		tx.PutAccount(store.Account{
			UserID: bob, Email: "Bob@example.com", PasswordHash: "hash", PasswordAt: ago, Sessions: []string{"ses_1", "ses_2"}, CreatedAt: ago,
			Passkeys: []store.Passkey{{ID: "p", Name: "phone", Credential: []byte("made"), CreatedAt: ago}},
		}),
		tx.PutAccount(store.Account{UserID: eve, CreatedAt: ago}))
}

// accountRules are those of people who sign in.
var accountRules = []Rule{
	{"create a sign-in link", createLink(acme, ada, time.Hour)},
	{"use a sign-in link", useLink("sil_1." + known)},
	{"create a session", createSession(bob)},
	{"see a session", func(tx store.Tx) error { return store.SeeSession(tx, "ses_1") }},
	{"end a session", func(tx store.Tx) error { return store.EndSession(tx, bob, "ses_1") }},
	{"end the other sessions", func(tx store.Tx) error { return store.EndOtherSessions(tx, bob, "ses_1") }},
	{"set a password", func(tx store.Tx) error { return store.SetPassword(tx, bob, "new hash", "ses_1") }},
	{"add a passkey", addPasskey(bob, "q")},
	{"use a passkey", func(tx store.Tx) error { return store.UsePasskey(tx, bob, "p", []byte("used")) }},
	{"remove a passkey", func(tx store.Tx) error { return store.RemovePasskey(tx, bob, "p") }},
	{"demote one who signs in", func(tx store.Tx) error { return changeRole(tx, ada, acme, bob, store.RoleMember) }},
	{"demote one who manages two orgs", func(tx store.Tx) error { return changeRole(tx, ada, other, eve, store.RoleMember) }},
	{"remove one who manages two orgs", func(tx store.Tx) error { return store.RemoveMember(tx, ada, other, eve) }},
}

func createLink(org, user string, ttl time.Duration) func(store.Tx) error {
	return func(tx store.Tx) error {
		_, _, err := store.CreateSignInLink(tx, org, user, ttl)
		return err
	}
}

func useLink(token string) func(store.Tx) error {
	return func(tx store.Tx) error { return second(store.UseSignInLink(tx, token, "new hash")) }
}

func createSession(user string) func(store.Tx) error {
	return func(tx store.Tx) error {
		_, _, err := store.CreateSession(tx, user, "Browser/1")
		return err
	}
}

func addPasskey(user, id string) func(store.Tx) error {
	return func(tx store.Tx) error {
		return store.AddPasskey(tx, user, store.Passkey{ID: id, Name: "key", Credential: []byte("{}")})
	}
}
