package boltstore

import (
	"teamdata/store"
	"teamdata/store/codec"
)

var instructions = table[store.Instructions]{bucket: bucketInstructions, noun: "instructions", fields: codec.Instructions}

func (t *tx) Instructions(orgID string) (store.Instructions, error) {
	i, err := instructions.get(t, []byte(orgID))
	return i, unlessNotFound(err)
}

func (t *tx) PutInstructions(orgID string, i store.Instructions) error {
	return instructions.put(t, []byte(orgID), i)
}
