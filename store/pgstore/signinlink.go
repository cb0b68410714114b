package pgstore

import (
	"teamdata/store"
	"teamdata/store/codec"
)

var signInLinks = records[store.SignInLink]{table: define("sign_in_links", 1, text("id"), blob("record")), noun: "sign-in link", fields: codec.SignInLink}

func (t *tx) SignInLink(id string) (store.SignInLink, error) { return signInLinks.get(t, id) }

func (t *tx) SignInLinks(after string, limit int) ([]store.SignInLink, error) {
	return signInLinks.list(t, after, limit)
}

func (t *tx) PutSignInLink(l store.SignInLink) error { return signInLinks.put(t, l, l.ID) }

func (t *tx) DeleteSignInLink(id string) error { return signInLinks.remove(t, id) }
