package boltstore

// ForgetOrg also forgets the position of the org's member who was removed last.
func (t *tx) ForgetOrg(id string) error {
	if err := t.delete(t.bucket(bucketLastRemoved), []byte(id)); err != nil {
		return err
	}
	return t.Nouns.ForgetOrg(id)
}
