package admin

import (
	"encoding/json"

	"teamdata/internal/strictjson"
	"teamdata/internal/web"
	"teamdata/store"
)

func memberJSON(m store.Member) []byte {
	return newObject().text("id", m.ID).text("userId", m.UserID).text("role", m.Role).
		text("name", m.Name).text("email", m.Email).time("createdAt", m.CreatedAt).end()
}

func (x *exchange) listMembers() error {
	return x.page(func(tx store.Tx, q web.PageQuery) (store.Page, error) {
		page, err := tx.MemberPage(x.org(), q.After, q.Limit, []byte{'['})
		if err != nil {
			return page, err
		}
		page.Items, err = x.withNames(tx, append(page.Items, ']'))
		return page, err
	})
}

// withNames are the members of a list as this API shows them: with what the
// list, which is kept as the Team Data API shows it, leaves out.
func (x *exchange) withNames(tx store.Members, list []byte) ([]byte, error) {
	var shown []struct{ UserID string }
	if err := json.Unmarshal(list, &shown); err != nil {
		return nil, err
	}
	items := []byte(web.Opening)
	for i := range shown {
		m, err := tx.Member(x.org(), shown[i].UserID)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			items = append(items, ',')
		}
		items = append(items, memberJSON(m)...)
	}
	return items, nil
}

func (x *exchange) addMember() error {
	m, r := store.Member{OrgID: x.org()}, x.in
	err := r.Document(r.Text("userId", &m.UserID), r.Text("role", &m.Role), r.Text("name", &m.Name), r.Text("email", &m.Email))
	if err != nil {
		return err
	}
	return x.once(func(tx store.Tx) (store.Answer, error) {
		m, err := store.AddMember(tx, x.actor, m)
		return created(memberJSON(m)), err
	})
}

func (x *exchange) readMember() error {
	return x.read(func(tx store.Tx) (store.Answer, error) {
		m, err := tx.Member(x.org(), x.param("userId"))
		if store.IsNotFound(err) {
			err = errNoMember
		}
		return ok(memberJSON(m)), err
	})
}

var errNoMember = store.Errorf(store.CodeNotFound, "The org has no such member.")

func (x *exchange) changeMember() error {
	var role, name, email optional
	r := x.in
	if err := r.Document(role.text(r, "role"), name.text(r, "name"), email.text(r, "email")); err != nil {
		return err
	}
	change := store.MemberChange{Role: role.value(), Name: name.value(), Email: email.value()}
	return x.change(func(tx store.Tx) (store.Answer, error) {
		m, err := store.ChangeMember(tx, x.actor, x.org(), x.param("userId"), change)
		return ok(memberJSON(m)), err
	})
}

func (x *exchange) removeMember() error {
	return x.change(func(tx store.Tx) (store.Answer, error) {
		return gone, store.RemoveMember(tx, x.actor, x.org(), x.param("userId"))
	})
}

// optional is a text that may be left out, which is not the same as empty.
type optional struct {
	given bool
	is    string
}

func (o *optional) text(r *strictjson.Reader, name string) strictjson.Field {
	return strictjson.Given(&o.given, r.Text(name, &o.is))
}

// value is nil when it was left out.
func (o *optional) value() *string {
	if !o.given {
		return nil
	}
	return &o.is
}
