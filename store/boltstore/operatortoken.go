package boltstore

import (
	"teamdata/store"
	"teamdata/store/codec"
)

var operatorTokens = table[store.OperatorToken]{bucket: bucketOperatorTokens, noun: "operator token", fields: codec.OperatorToken}

func (t *tx) OperatorToken(id string) (store.OperatorToken, error) {
	return operatorTokens.get(t, []byte(id))
}

func (t *tx) OperatorTokens() ([]store.OperatorToken, error) { return operatorTokens.list(t, "", all) }

func (t *tx) PutOperatorToken(o store.OperatorToken) error {
	return operatorTokens.put(t, []byte(o.ID), o)
}

func (t *tx) DeleteOperatorToken(id string) error { return operatorTokens.delete(t, []byte(id)) }
