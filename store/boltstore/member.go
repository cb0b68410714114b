package boltstore

import (
	"bytes"
	"errors"

	"teamdata/store"
	"teamdata/store/codec"
)

var members = table[store.Member]{bucket: bucketMembers, noun: "member", fields: codec.Member}

func (t *tx) Member(orgID, userID string) (store.Member, error) {
	return members.get(t, orgKey(orgID, userID))
}

func (t *tx) AppendMember(m store.Member) (store.Member, error) {
	if _, err := t.place(t.bucket(bucketMemberList), m.OrgID, store.PrefixMember, &m.ID, &m.CreatedAt); err != nil {
		return store.Member{}, err
	}
	return m, t.PutMember(m)
}

func (t *tx) PutMember(m store.Member) error {
	t.Touched = true
	item := m.AppendJSON(make([]byte, 0, 160))
	if err := t.put(t.bucket(bucketMemberList), listKey(m.OrgID, store.CursorOf(m.CreatedAt, m.ID)), item); err != nil {
		return err
	}
	if err := t.putManager(m); err != nil {
		return err
	}
	return members.put(t, orgKey(m.OrgID, m.UserID), m)
}

// putManager adds a member to the indexes of who may see the org and who manages it,
// or removes them.
func (t *tx) putManager(m store.Member) error {
	if !m.MaySee() {
		return t.dropManager(m.OrgID, m.UserID)
	}
	if err := t.put(t.bucket(bucketVisibleOrgs), orgKey(m.UserID, m.OrgID), []byte{}); err != nil {
		return err
	}
	if !m.Manages() {
		return t.delete(t.bucket(bucketManagers), orgKey(m.OrgID, m.UserID))
	}
	return t.put(t.bucket(bucketManagers), orgKey(m.OrgID, m.UserID), []byte(m.Role))
}

func (t *tx) dropManager(orgID, userID string) error {
	if err := t.delete(t.bucket(bucketVisibleOrgs), orgKey(userID, orgID)); err != nil {
		return err
	}
	return t.delete(t.bucket(bucketManagers), orgKey(orgID, userID))
}

func (t *tx) DeleteMember(orgID, userID string) error {
	m, err := t.Member(orgID, userID)
	if err != nil {
		return err
	}
	if removed, _ := t.OrgRemoved(orgID); !removed { // of a removed org no Access is left
		t.Touched = true
	}
	list, key := t.bucket(bucketMemberList), listKey(orgID, store.CursorOf(m.CreatedAt, m.ID))
	if err := t.keepLastRemoved(list, orgID, key); err != nil {
		return err
	}
	if err := t.delete(list, key); err != nil {
		return err
	}
	if err := t.dropManager(orgID, userID); err != nil {
		return err
	}
	return members.delete(t, orgKey(orgID, userID))
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
		m, merr := members.get(t, key)
		err = errors.Join(err, merr)
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

func (t *tx) VisibleOrgs(userID string) (orgs []string, err error) {
	prefix := orgKey(userID, "")
	for _, key := range firstKeys(t.bolt.Bucket(bucketVisibleOrgs), prefix, all) {
		org := string(key[len(prefix):])
		removed, err := t.OrgRemoved(org)
		if err != nil {
			return nil, err
		}
		if !removed {
			orgs = append(orgs, org)
		}
	}
	return orgs, nil
}

func (t *tx) MemberPage(orgID string, after store.Cursor, limit int, dst []byte) (store.Page, error) {
	return t.page(bucketMemberList, orgID, after, limit, dst)
}

// members checks that each member is in the list, and that the manager indexes
// have exactly the members who manage, and those who may see the org.
func (c *checker) members() {
	managers, viewers := 0, 0 // those who manage may also see
	n := members.check(c, func(key []byte, m *store.Member) {
		item := c.get(bucketMemberList, listKey(m.OrgID, store.CursorOf(m.CreatedAt, m.ID)))
		if !bytes.Equal(item, m.AppendJSON(nil)) {
			c.fault("members %q: is listed as %q", key, item)
		}
		if m.Manages() {
			managers++
			if role := c.get(bucketManagers, key); string(role) != m.Role {
				c.fault("members %q: has the role %q, and %q among the managers", key, m.Role, role)
			}
		}
		if m.MaySee() {
			viewers++
			if c.get(bucketVisibleOrgs, orgKey(m.UserID, m.OrgID)) == nil {
				c.fault("members %q: has the role %q, and not the org among those that the user may see", key, m.Role)
			}
		}
	})
	c.sameCount(bucketMemberList, "items", n, "members")
	c.sameCount(bucketManagers, "entries", managers, "members who manage")
	c.sameCount(bucketVisibleOrgs, "entries", viewers, "members who may see")
}
