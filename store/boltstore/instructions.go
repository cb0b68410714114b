package boltstore

import "teamdata/store"

var instructions = table[store.Instructions]{bucket: bucketInstructions, noun: "instructions", fields: instructionsFields}

func instructionsFields(i *store.Instructions) func(*codec) {
	return func(c *codec) {
		c.text(&i.Text)
		c.flag(&i.Set)
		c.time(&i.UpdatedAt)
	}
}

func (t *tx) Instructions(orgID string) (i store.Instructions, err error) {
	return i, unlessNotFound(instructions.get(t, []byte(orgID), instructionsFields(&i)))
}

func (t *tx) PutInstructions(orgID string, i store.Instructions) error {
	return instructions.put(t, []byte(orgID), instructionsFields(&i))
}
