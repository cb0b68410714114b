package pgstore

// ForgetOrg drops the row that updates of the org locked, too.
func (t *tx) ForgetOrg(id string) error {
	if err := t.remove(lockedOrgs, plain(id)); err != nil {
		return err
	}
	return t.Nouns.ForgetOrg(id)
}

// firstTexts are the first columns of rows.
func firstTexts(rows []row) (texts []string) {
	for _, r := range rows {
		texts = append(texts, string(r[0]))
	}
	return texts
}
