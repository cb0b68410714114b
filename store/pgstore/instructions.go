package pgstore

import (
	"teamdata/store"
	"teamdata/store/codec"
)

var instructions = records[store.Instructions]{table: define("instructions", 1, text("org_id"), blob("record")), noun: "instructions", fields: codec.Instructions}

func (t *tx) Instructions(orgID string) (store.Instructions, error) {
	i, err := instructions.get(t, orgID)
	return i, unlessNotFound(err)
}

func (t *tx) PutInstructions(orgID string, i store.Instructions) error {
	return instructions.put(t, i, orgID)
}
