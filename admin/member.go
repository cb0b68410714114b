package admin

import (
	"teamdata/internal/web"
	"teamdata/store"
)

// memberJSON returns a member with the number of the org's keys that the member
// created: either all work or none does.
func memberJSON(m store.Member, created map[string][]store.APIKey) []byte {
	active, suspended := int64(len(created[m.UserID])), int64(0)
	if !m.Manages() {
		active, suspended = suspended, active
	}
	return newObject().text("id", m.ID).text("userId", m.UserID).text("role", m.Role).
		text("name", m.Name).text("email", m.Email).time("createdAt", m.CreatedAt).
		raw("apiKeys", newObject().number("active", active).number("suspended", suspended).end()).end()
}

// formatMember is memberJSON of one member.
func formatMember(tx store.Tx, m store.Member, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	created, err := store.CreatedKeys(tx, m.OrgID)
	return memberJSON(m, created), err
}

func (r *request) listMembers() error {
	return r.page(func(tx store.Tx, q web.PageQuery) (store.Page, error) {
		page, members, err := store.ListMembers(tx, r.org(), q.After, q.Limit)
		if err != nil {
			return page, err
		}
		created, err := store.CreatedKeys(tx, r.org())
		page.Items = append([]byte(web.PageStart), joined(members, func(m store.Member) []byte { return memberJSON(m, created) })...)
		return page, err
	})
}

func (r *request) addMember() error {
	m, in := store.Member{OrgID: r.org()}, r.in
	r.read(in.Text("userId", &m.UserID), in.Text("role", &m.Role), in.Text("name", &m.Name), in.Text("email", &m.Email))
	return r.idempotent(func(tx store.Tx) (store.Answer, error) {
		m, err := store.AddMember(tx, r.actor, m)
		shown, err := formatMember(tx, m, err)
		return created(shown), err
	})
}

func (r *request) readMember() error {
	return r.view(func(tx store.Tx) (store.Answer, error) {
		m, err := tx.Member(r.org(), r.Param("userId"))
		if store.IsNotFound(err) {
			err = errNoMember
		}
		shown, err := formatMember(tx, m, err)
		return ok(shown), err
	})
}

var errNoMember = store.Errorf(store.CodeNotFound, "The org has no such member.")

func (r *request) updateMember() error {
	var change store.MemberChange
	in := r.in
	r.read(in.OptionalText("role", &change.Role), in.OptionalText("name", &change.Name), in.OptionalText("email", &change.Email))
	return r.update(func(tx store.Tx) (store.Answer, error) {
		m, err := store.ChangeMember(tx, r.actor, r.org(), r.Param("userId"), change)
		shown, err := formatMember(tx, m, err)
		return ok(shown), err
	})
}

func (r *request) removeMember() error {
	return r.update(func(tx store.Tx) (store.Answer, error) {
		userID := r.Param("userId")
		keys, err := store.CreatedKeys(tx, r.org())
		if err == nil {
			err = store.RemoveMember(tx, r.actor, r.org(), userID)
		}
		return ok(newObject().text("userId", userID).number("revokedKeys", int64(len(keys[userID]))).end()), err
	})
}
