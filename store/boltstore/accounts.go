package boltstore

import (
	"strings"

	"teamdata/store"
)

func (t *tx) Account(userID string) (a store.Account, err error) {
	key := []byte(userID)
	if err := t.get(bucketAccounts, key, "account", accountFields(&a)); err != nil {
		return a, err
	}
	return a, storageFault(t.s.seal.openFields(bucketAccounts, key, secretsOfAccount(&a)))
}

func (t *tx) AccountByEmail(email string) (store.Account, error) {
	return t.Account(string(t.bolt.Bucket(bucketAccountEmails).Get([]byte(email))))
}

func (t *tx) PutAccount(a store.Account) error {
	old, err := t.emailOf(a.UserID)
	if err != nil {
		return err
	}
	if err := t.moveEmail(old, strings.ToLower(a.Email), a.UserID); err != nil {
		return err
	}
	key := []byte(a.UserID)
	t.s.seal.sealFields(bucketAccounts, key, secretsOfAccount(&a))
	return t.put(t.bucket(bucketAccounts), key, encode(accountFields(&a)))
}

func (t *tx) DeleteAccount(userID string) error {
	old, err := t.emailOf(userID)
	if err != nil {
		return err
	}
	if err := t.moveEmail(old, "", userID); err != nil {
		return err
	}
	return t.delete(t.bucket(bucketAccounts), []byte(userID))
}

// emailOf is the address under which an account is indexed; empty when it is not.
func (t *tx) emailOf(userID string) (string, error) {
	var a store.Account
	err := t.get(bucketAccounts, []byte(userID), "account", accountFields(&a))
	if store.IsNotFound(err) {
		err = nil
	}
	return strings.ToLower(a.Email), err
}

// moveEmail indexes an account under another address than before.
func (t *tx) moveEmail(from, to, userID string) error {
	b := t.bucket(bucketAccountEmails)
	switch {
	case from == to:
		return nil
	case b.Get([]byte(to)) != nil:
		return store.Errorf(store.CodeConflict, "Another account has this address.")
	}
	if to != "" {
		if err := t.insert(b, []byte(to), []byte(userID)); err != nil {
			return err
		}
	}
	if from == "" {
		return nil
	}
	return t.delete(b, []byte(from))
}

func (t *tx) Session(id string) (s store.Session, err error) {
	return s, t.get(bucketSessions, []byte(id), "session", sessionFields(&s))
}

func (t *tx) Sessions(after string, limit int) ([]store.Session, error) {
	return records(t.bolt.Bucket(bucketSessions).Cursor(), []byte(after), limit, sessionFields)
}

func (t *tx) PutSession(s store.Session) error {
	return t.put(t.bucket(bucketSessions), []byte(s.ID), encode(sessionFields(&s)))
}

func (t *tx) DeleteSession(id string) error { return t.delete(t.bucket(bucketSessions), []byte(id)) }

func (t *tx) SignInLink(id string) (l store.SignInLink, err error) {
	return l, t.get(bucketSignInLinks, []byte(id), "sign-in link", signInLinkFields(&l))
}

func (t *tx) SignInLinks(after string, limit int) ([]store.SignInLink, error) {
	return records(t.bolt.Bucket(bucketSignInLinks).Cursor(), []byte(after), limit, signInLinkFields)
}

func (t *tx) PutSignInLink(l store.SignInLink) error {
	return t.put(t.bucket(bucketSignInLinks), []byte(l.ID), encode(signInLinkFields(&l)))
}

func (t *tx) DeleteSignInLink(id string) error {
	return t.delete(t.bucket(bucketSignInLinks), []byte(id))
}
