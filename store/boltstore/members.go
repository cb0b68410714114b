package boltstore

import (
	"bytes"
	"errors"

	"teamdata/store"
)

func (t *tx) Member(orgID, userID string) (m store.Member, err error) {
	return m, t.get(bucketMembers, orgKey(orgID, userID), "member", memberFields(&m))
}

func (t *tx) AppendMember(m store.Member) (store.Member, error) {
	if _, err := t.place(t.bucket(bucketMemberList), m.OrgID, store.PrefixMember, &m.ID, &m.CreatedAt); err != nil {
		return store.Member{}, err
	}
	return m, t.PutMember(m)
}

func (t *tx) PutMember(m store.Member) error {
	t.touched = true
	item := m.AppendJSON(make([]byte, 0, 160))
	if err := t.put(t.bucket(bucketMemberList), listKey(m.OrgID, store.CursorOf(m.CreatedAt, m.ID)), item); err != nil {
		return err
	}
	if err := t.putManager(m); err != nil {
		return err
	}
	return t.put(t.bucket(bucketMembers), orgKey(m.OrgID, m.UserID), encode(memberFields(&m)))
}

// putManager enters a member who manages in the index of them.
func (t *tx) putManager(m store.Member) error {
	if !m.Manages() {
		return t.dropManager(m.OrgID, m.UserID)
	}
	if err := t.put(t.bucket(bucketManagedOrgs), orgKey(m.UserID, m.OrgID), []byte{}); err != nil {
		return err
	}
	return t.put(t.bucket(bucketManagers), orgKey(m.OrgID, m.UserID), []byte(m.Role))
}

func (t *tx) dropManager(orgID, userID string) error {
	if err := t.delete(t.bucket(bucketManagedOrgs), orgKey(userID, orgID)); err != nil {
		return err
	}
	return t.delete(t.bucket(bucketManagers), orgKey(orgID, userID))
}

func (t *tx) DeleteMember(orgID, userID string) error {
	m, err := t.Member(orgID, userID)
	if err != nil {
		return err
	}
	t.touched = true
	list, key := t.bucket(bucketMemberList), listKey(orgID, store.CursorOf(m.CreatedAt, m.ID))
	if err := t.keepEnd(list, orgID, key); err != nil {
		return err
	}
	if err := t.delete(list, key); err != nil {
		return err
	}
	if err := t.dropManager(orgID, userID); err != nil {
		return err
	}
	return t.delete(t.bucket(bucketMembers), orgKey(orgID, userID))
}

func (t *tx) CountOwners(orgID string) (n int, err error) {
	t.eachManager(orgID, func(_, role []byte) {
		if string(role) == store.RoleOwner {
			n++
		}
	})
	return n, nil
}

func (t *tx) Managers(orgID string) (managers []store.Member, err error) {
	t.eachManager(orgID, func(key, _ []byte) {
		var m store.Member
		err = errors.Join(err, t.get(bucketMembers, key, "member", memberFields(&m)))
		managers = append(managers, m)
	})
	return managers, err
}

func (t *tx) eachManager(orgID string, fn func(key, role []byte)) {
	prefix := orgKey(orgID, "")
	c := t.bolt.Bucket(bucketManagers).Cursor()
	for key, role := c.Seek(prefix); bytes.HasPrefix(key, prefix); key, role = c.Next() {
		fn(key, role)
	}
}

func (t *tx) ManagedOrgs(userID string) (orgs []string, err error) {
	prefix := orgKey(userID, "")
	c := t.bolt.Bucket(bucketManagedOrgs).Cursor()
	for key, _ := c.Seek(prefix); bytes.HasPrefix(key, prefix); key, _ = c.Next() {
		orgs = append(orgs, string(key[len(prefix):]))
	}
	return orgs, nil
}

func (t *tx) MemberPage(orgID string, after store.Cursor, limit int, dst []byte) (store.Page, error) {
	return t.page(bucketMemberList, orgID, after, limit, dst)
}
