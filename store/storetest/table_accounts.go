package storetest

import (
	"errors"
	"time"

	"teamdata/store"
)

const (
	eve   = "usr_eve"
	guest = "usr_guest" // no member
)

// fillAccounts makes eve an admin of acme and other, and gives her and bob
// accounts.
func fillAccounts(tx store.Tx) error {
	_, errAcme := store.ImportMember(tx, store.Member{OrgID: acme, UserID: eve, Role: store.RoleAdmin})
	_, errOther := store.ImportMember(tx, store.Member{OrgID: other, UserID: eve, Role: store.RoleAdmin})
	return errors.Join(errAcme, errOther, addAccount(tx, bob), tx.PutAccount(store.Account{UserID: eve, SignInName: "Eve", CreatedAt: tx.Now()}))
}

// addAccount adds the account of a user, with a passkey, two sessions of an hour
// ago and a sign-in link, and a guest of acme a portal link. The secrets of the first
// session and the links are known.
func addAccount(tx store.Tx, user string) error {
	ago := tx.Now().Add(-time.Hour)
	session := store.Session{ID: "ses_1", UserID: user, SecretHash: store.HashSecret(known), CreatedAt: ago, LastSeenAt: ago}
	another := store.Session{ID: "ses_2", UserID: user, CreatedAt: ago, LastSeenAt: ago}
	link := store.SignInLink{ID: "sil_1", UserID: user, SecretHash: store.HashSecret(known), CreatedAt: tx.Now(), ExpiresAt: tx.Now().Add(time.Hour)}
	portal := store.SignInLink{
		ID: "sil_2", UserID: guest, SecretHash: store.HashSecret(known), CreatedAt: tx.Now(), ExpiresAt: tx.Now().Add(time.Hour),
		Portal: store.Portal{OrgID: acme, Role: store.RoleViewer},
	}
	return errors.Join(tx.PutSession(session), tx.PutSession(another), tx.PutSignInLink(link), tx.PutSignInLink(portal),
		tx.PutAccount(store.Account{
			UserID: user, Email: "Bob@example.com", PasswordHash: "hash", PasswordAt: ago, Sessions: []string{"ses_1", "ses_2"}, CreatedAt: ago,
			Passkeys: []store.Passkey{{ID: "p", Name: "phone", Credential: []byte("made"), CreatedAt: ago}},
		}))
}

// accountRules are those of people who sign in.
var accountRules = []Rule{
	{"create a sign-in link", func(tx store.Tx) error { return third(store.CreateSignInLink(tx, acme, ada, time.Hour)) }},
	{"mail a sign-in link", func(tx store.Tx) error { return second(store.QueueSignInLink(tx, acme, bob, time.Hour)) }},
	{"invite a person", func(tx store.Tx) error {
		return second(store.Invite(tx, ada, store.Member{OrgID: acme, Role: store.RoleViewer, Name: "Nina", Email: "nina@example.com"}))
	}},
	{"show the link of an invitation", func(tx store.Tx) error {
		m, err := store.Invite(tx, ada, store.Member{OrgID: acme, Role: store.RoleViewer, Email: "nina@example.com"})
		return errors.Join(err, second(store.LinkToShow(tx, acme, m.UserID, "nina", time.Hour)))
	}},
	{"make the link of a mail", func(tx store.Tx) error {
		until := map[string]string{"userId": bob, "until": store.FormatTime(tx.Now().Add(time.Hour))}
		return second(store.SignInLinkValues(tx, store.Mail{OrgID: acme, Values: until}))
	}},
	{"use a sign-in link", useLink("sil_1." + known)},
	{"create a portal link", func(tx store.Tx) error {
		return third(store.CreatePortalLink(tx, ada, guest, store.Portal{OrgID: acme, Role: store.RoleViewer, Name: "Guest"}, time.Hour))
	}},
	{"use a portal link", func(tx store.Tx) error { return third(store.UsePortalLink(tx, "sil_2."+known, "Browser/1")) }},
	{"end a portal session", func(tx store.Tx) error {
		v, _, err := store.UsePortalLink(tx, "sil_2."+known, "Browser/1")
		return errors.Join(err, store.EndPortalSession(tx, ada, acme, v.ID))
	}},
	{"create a session", func(tx store.Tx) error { return third(store.CreateSession(tx, bob, "Browser/1")) }},
	{"see a session", func(tx store.Tx) error { return store.TouchSession(tx, "ses_1") }},
	{"end a session", func(tx store.Tx) error { return store.EndSession(tx, bob, "ses_1") }},
	{"end the other sessions", func(tx store.Tx) error { return store.EndOtherSessions(tx, bob, "ses_1") }},
	{"renew a password's hash", func(tx store.Tx) error { return store.RenewPasswordHash(tx, bob, "hash", "hash of now") }},
	{"set a password", func(tx store.Tx) error { return store.SetPassword(tx, bob, "new hash", "ses_1") }},
	{"add a passkey", addPasskey(bob, "q")},
	{"use a passkey", func(tx store.Tx) error { return store.UsePasskey(tx, bob, "p", []byte("made"), []byte("used")) }},
	{"remove a passkey", func(tx store.Tx) error { return store.RemovePasskey(tx, bob, "p") }},
	{"demote one who signs in", changeRole(ada, acme, bob, store.RoleMember)},
	{"demote one to viewer", changeRole(ada, acme, bob, store.RoleViewer)},
	{"demote one who manages two orgs", changeRole(ada, other, eve, store.RoleMember)},
	{"remove one who manages two orgs", removeMember(other, eve)},
}

func useLink(token string) func(store.Tx) error {
	return func(tx store.Tx) error { return second(store.UseSignInLink(tx, token, "new hash", false)) }
}

func addPasskey(user, id string) func(store.Tx) error {
	return func(tx store.Tx) error {
		return store.AddPasskey(tx, user, store.Passkey{ID: id, Name: "key", Credential: []byte("{}")})
	}
}
