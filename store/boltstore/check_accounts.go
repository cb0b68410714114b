package boltstore

import (
	"bytes"
	"strings"

	"teamdata/store"
)

// accounts holds each account to its user's managing an org, to its entry among
// the addresses, and to its sessions.
func (c *checker) accounts() {
	emails, sessions := 0, 0
	c.each(bucketAccounts, func(key, record []byte) {
		var a store.Account
		c.read(bucketAccounts, key, record, accountFields(&a))
		if a.UserID != string(key) {
			c.fault("accounts %q: holds the account %q", key, a.UserID)
		}
		if orgs, _ := (&tx{bolt: c.bolt}).ManagedOrgs(a.UserID); len(orgs) == 0 {
			c.fault("accounts %q: manages no org", key)
		}
		if a.Email != "" {
			emails++
			if named := c.get(bucketAccountEmails, []byte(strings.ToLower(a.Email))); !bytes.Equal(named, key) {
				c.fault("accounts %q: its address %q names %q", key, a.Email, named)
			}
		}
		for _, id := range a.Sessions {
			sessions++
			c.sessionOf(&a, id)
		}
	})
	if indexed := c.count(bucketAccountEmails); indexed != emails {
		c.fault("accountEmails: has %d entries for %d accounts with an address", indexed, emails)
	}
	if n := c.count(bucketSessions); n != sessions {
		c.fault("sessions: has %d records for %d in the accounts", n, sessions)
	}
	c.signInLinks()
}

// sessionOf holds a session of an account to being there, and to being its own.
func (c *checker) sessionOf(a *store.Account, id string) {
	var s store.Session
	record := c.get(bucketSessions, []byte(id))
	if record == nil {
		c.fault("accounts %q: its session %q is missing", a.UserID, id)
		return
	}
	c.read(bucketSessions, []byte(id), record, sessionFields(&s))
	if s.ID != id || s.UserID != a.UserID {
		c.fault("sessions %q: holds the session %q of %q", id, s.ID, s.UserID)
	}
}

// signInLinks holds links to their form alone: a link may outlive its account.
func (c *checker) signInLinks() {
	c.each(bucketSignInLinks, func(key, record []byte) {
		var l store.SignInLink
		c.read(bucketSignInLinks, key, record, signInLinkFields(&l))
		if l.ID != string(key) {
			c.fault("signInLinks %q: holds the link %q", key, l.ID)
		}
	})
}

// counts holds counts to their form: they outlive the endpoint.
func (c *checker) counts() {
	c.each(bucketDeliveryCounts, func(key, record []byte) {
		if org := len(key) - 8 - 1 - 8; org <= 0 || bytes.IndexByte(key[8:], 0) != org {
			c.fault("deliveryCounts %q: is no hour, org and endpoint", key)
		}
		c.read(bucketDeliveryCounts, key, record, countsFields(new(store.DeliveryCounts)))
	})
}

func (c *checker) lastUsed() {
	c.each(bucketKeyLastUsed, func(key, ms []byte) {
		if c.get(bucketAPIKeys, key) == nil {
			c.fault("keyLastUsed %q: there is no such key", key)
		}
		if len(ms) != 8 {
			c.fault("keyLastUsed %q: %q is not a time", key, ms)
		}
	})
}
