package admin

import (
	"teamdata/internal/web"
	"teamdata/store"
)

func memberJSON(m store.Member) []byte {
	return newObject().text("id", m.ID).text("userId", m.UserID).text("role", m.Role).
		text("name", m.Name).text("email", m.Email).time("createdAt", m.CreatedAt).end()
}

func (r *request) listMembers() error {
	return r.page(func(tx store.Tx, q web.PageQuery) (store.Page, error) {
		page, members, err := store.ListMembers(tx, r.org(), q.After, q.Limit)
		page.Items = append([]byte(web.PageStart), joined(members, memberJSON)...)
		return page, err
	})
}

func (r *request) addMember() error {
	m, in := store.Member{OrgID: r.org()}, r.in
	r.read(in.Text("userId", &m.UserID), in.Text("role", &m.Role), in.Text("name", &m.Name), in.Text("email", &m.Email))
	return r.idempotent(func(tx store.Tx) (store.Answer, error) {
		m, err := store.AddMember(tx, r.actor, m)
		return created(memberJSON(m)), err
	})
}

func (r *request) readMember() error {
	return r.view(func(tx store.Tx) (store.Answer, error) {
		m, err := tx.Member(r.org(), r.Param("userId"))
		if store.IsNotFound(err) {
			err = errNoMember
		}
		return ok(memberJSON(m)), err
	})
}

var errNoMember = store.Errorf(store.CodeNotFound, "The org has no such member.")

func (r *request) updateMember() error {
	var change store.MemberChange
	in := r.in
	r.read(in.OptionalText("role", &change.Role), in.OptionalText("name", &change.Name), in.OptionalText("email", &change.Email))
	return r.update(func(tx store.Tx) (store.Answer, error) {
		m, err := store.ChangeMember(tx, r.actor, r.org(), r.Param("userId"), change)
		return ok(memberJSON(m)), err
	})
}

func (r *request) removeMember() error {
	return r.update(func(tx store.Tx) (store.Answer, error) {
		return noContent, store.RemoveMember(tx, r.actor, r.org(), r.Param("userId"))
	})
}
