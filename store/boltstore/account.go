package boltstore

import (
	"bytes"
	"strings"

	"teamdata/store"
	"teamdata/store/codec"
	"teamdata/store/rows"
)

var accounts = table[store.Account]{bucket: bucketAccounts, noun: "account", fields: codec.Account, secrets: codec.SecretsOfAccount}

func (t *tx) Account(userID string) (store.Account, error) {
	return accounts.get(t, []byte(userID))
}

func (t *tx) AccountByEmail(email string) (store.Account, error) {
	return t.Account(string(t.bolt.Bucket(bucketAccountEmails).Get([]byte(email))))
}

func (t *tx) PutAccount(a store.Account) error {
	if err := t.moveEmail(a.UserID, strings.ToLower(a.Email)); err != nil {
		return err
	}
	return accounts.put(t, []byte(a.UserID), a)
}

func (t *tx) DeleteAccount(userID string) error {
	if err := t.moveEmail(userID, ""); err != nil {
		return err
	}
	return accounts.delete(t, []byte(userID))
}

// moveEmail indexes a new or existing account under a changed address; an empty
// address is not indexed.
func (t *tx) moveEmail(userID, to string) error {
	old, err := accounts.sealed(t, []byte(userID))
	if err = unlessNotFound(err); err != nil {
		return err
	}
	b, from := t.bucket(bucketAccountEmails), strings.ToLower(old.Email)
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

// accounts checks that each account's user may see an org, which may be removed, that
// its address and sessions exist, and that no others do but the sessions of portals.
func (c *checker) accounts() {
	emails, ids := 0, 0
	accounts.check(c, func(key []byte, a *store.Account) {
		if a.UserID != string(key) {
			c.fault("accounts %q: holds the account %q", key, a.UserID)
		}
		if len(firstKeys(c.bolt.Bucket(bucketVisibleOrgs), orgKey(a.UserID, ""), 1)) == 0 {
			c.fault("accounts %q: may see no org", key)
		}
		if a.Email != "" {
			emails++
			if named := c.get(bucketAccountEmails, []byte(strings.ToLower(a.Email))); !bytes.Equal(named, key) {
				c.fault("accounts %q: its address %q names %q", key, a.Email, named)
			}
		}
		for _, id := range a.Sessions {
			ids++
			c.sessionOf(a, id)
		}
	})
	c.sameCount(bucketAccountEmails, "entries", emails, "accounts with an address")
	c.each([]byte(store.KindSession), func(_, value []byte) {
		if s, err := rows.Decode(value, codec.Session); err == nil && s.Portal.Is() {
			ids++ // it is in no account
		}
	})
	c.sameCount([]byte(store.KindSession), "records", ids, "in the accounts")
}

// sessionOf checks that a session of an account exists and belongs to it.
func (c *checker) sessionOf(a *store.Account, id string) {
	record := c.get([]byte(store.KindSession), []byte(id))
	if record == nil {
		c.fault("accounts %q: its session %q is missing", a.UserID, id)
		return
	}
	if s, err := rows.Decode(record, codec.Session); err == nil && s.UserID != a.UserID {
		c.fault("accounts %q: its session %q is that of %q", a.UserID, id, s.UserID)
	}
}
