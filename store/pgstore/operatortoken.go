package pgstore

import (
	"teamdata/store"
	"teamdata/store/codec"
)

var operatorTokens = records[store.OperatorToken]{table: define("operator_tokens", 1, text("id"), blob("record")), noun: "operator token", fields: codec.OperatorToken}

func (t *tx) OperatorToken(id string) (store.OperatorToken, error) { return operatorTokens.get(t, id) }

func (t *tx) OperatorTokens() ([]store.OperatorToken, error) { return operatorTokens.list(t, "", all) }

func (t *tx) PutOperatorToken(o store.OperatorToken) error { return operatorTokens.put(t, o, o.ID) }

func (t *tx) DeleteOperatorToken(id string) error { return operatorTokens.remove(t, id) }
