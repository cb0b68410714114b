package settings

import (
	"slices"
	"strings"

	"teamdata/store"
)

// memberRow is a member as shown to people.
type memberRow struct {
	store.Member
	SignsIn bool // has an account
	Keys    int  // that the member created, and that were neither revoked nor have expired
}

type membersPage struct {
	Text  string // to search for; empty: all
	Found searchResult[store.Member]
	Rows  []memberRow
	Next  string // path of the next page; empty: this is the last
	First bool
}

func (r *request) listMembers() error {
	query := r.HTTP.URL.Query()
	p := membersPage{Text: strings.TrimSpace(query.Get("q")), First: query.Get("after") == ""}
	return r.show(200, "members", &p, func(tx store.Tx) error {
		after, err := cursorOf(query.Get("after"))
		if err != nil {
			return err
		}
		return r.findMembers(tx, after, &p)
	})
}

func (r *request) findMembers(tx store.Tx, after store.Cursor, p *membersPage) (err error) {
	read := func(after store.Cursor, limit int) ([]store.Member, error) {
		_, members, err := store.ListMembers(tx, r.org.ID, after, limit)
		return members, err
	}
	at := func(m store.Member) store.Cursor { return store.CursorOf(m.CreatedAt, m.ID) }
	p.Found, err = search(after, read, at, func(m store.Member) bool { return memberHas(m, p.Text) })
	if err != nil {
		return err
	}
	created, err := store.CreatedKeys(tx, r.org.ID)
	if err != nil {
		return err
	}
	p.Next = p.Found.nextPath(r.path("members"), "after", "q", p.Text)
	for _, m := range p.Found.Items {
		row := memberRow{Member: m, Keys: len(created[m.UserID])}
		if m.MaySee() {
			_, err = tx.Account(m.UserID)
			row.SignsIn = err == nil
		}
		if err != nil && !store.IsNotFound(err) {
			return err
		}
		p.Rows = append(p.Rows, row)
	}
	return nil
}

// memberHas reports whether a field of a member contains a text, whatever its case.
func memberHas(m store.Member, text string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc([]string{m.UserID, m.Name, m.Email, m.Role}, func(has string) bool {
		return strings.Contains(strings.ToLower(has), text)
	})
}
