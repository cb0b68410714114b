package boltstore

import (
	"teamdata/store"
	"teamdata/store/codec"
)

var signInLinks = table[store.SignInLink]{bucket: bucketSignInLinks, noun: "sign-in link", fields: codec.SignInLink}

func (t *tx) SignInLink(id string) (store.SignInLink, error) {
	return signInLinks.get(t, []byte(id))
}

func (t *tx) SignInLinks(after string, limit int) ([]store.SignInLink, error) {
	return signInLinks.list(t, after, limit)
}

func (t *tx) PutSignInLink(l store.SignInLink) error {
	return signInLinks.put(t, []byte(l.ID), l)
}

func (t *tx) DeleteSignInLink(id string) error { return signInLinks.delete(t, []byte(id)) }

// signInLinks checks only the links' form: a link may outlive its account.
func (c *checker) signInLinks() {
	signInLinks.check(c, func(key []byte, l *store.SignInLink) {
		if l.ID != string(key) {
			c.fault("signInLinks %q: holds the link %q", key, l.ID)
		}
	})
}
