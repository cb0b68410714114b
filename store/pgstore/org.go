package pgstore

import (
	"teamdata/store"
	"teamdata/store/codec"
)

var (
	orgs        = records[store.Org]{table: define("orgs", 1, text("id"), blob("record")), noun: "org", fields: codec.Org}
	removedOrgs = define("removed_orgs", 1, text("id"))
)

func (t *tx) Org(id string) (store.Org, error) { return orgs.get(t, id) }

func (t *tx) Orgs(after string, limit int) ([]store.Org, error) { return orgs.list(t, after, limit) }

func (t *tx) PutOrg(o store.Org) error {
	t.Touched = true
	return orgs.put(t, o, o.ID)
}

func (t *tx) AnyOrg() (bool, error) {
	rows, err := t.query([]*table{orgs.table, removedOrgs}, "(SELECT 1::bigint FROM orgs LIMIT 1) UNION ALL (SELECT 1::bigint FROM removed_orgs LIMIT 1)")
	return len(rows) > 0, err
}

func (t *tx) DeleteOrg(id string) error {
	if _, err := t.Org(id); err != nil {
		return err
	}
	t.Touched = true
	if err := orgs.remove(t, id); err != nil {
		return err
	}
	return t.put(removedOrgs, row{plain(id)})
}

func (t *tx) OrgRemoved(id string) (bool, error) {
	found, err := t.get(removedOrgs, plain(id))
	return found != nil, err
}

func (t *tx) RemovedOrgs(limit int) (ids []string, err error) {
	rows, err := t.query([]*table{removedOrgs}, "SELECT id FROM removed_orgs ORDER BY id LIMIT $1", limit)
	return firstTexts(rows), err
}

// firstTexts are the first columns of rows.
func firstTexts(rows []row) (texts []string) {
	for _, r := range rows {
		texts = append(texts, string(r[0]))
	}
	return texts
}

func (t *tx) ForgetOrg(id string) error {
	for _, from := range []*table{instructions.table, orgLists, removedOrgs} {
		if err := t.remove(from, plain(id)); err != nil {
			return err
		}
	}
	return nil
}
