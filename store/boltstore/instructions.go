package boltstore

import "teamdata/store"

var instructions = table[store.Instructions]{bucket: bucketInstructions, noun: "instructions", fields: instructionsFields}

func instructionsFields(c *codec, i *store.Instructions) {
	c.text(&i.Text)
	c.flag(&i.Set)
	c.time(&i.UpdatedAt)
}

func (t *tx) Instructions(orgID string) (store.Instructions, error) {
	i, err := instructions.get(t, []byte(orgID))
	return i, unlessNotFound(err)
}

func (t *tx) PutInstructions(orgID string, i store.Instructions) error {
	return instructions.put(t, []byte(orgID), i)
}
