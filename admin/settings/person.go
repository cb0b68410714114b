package settings

import (
	"cmp"
	"slices"
	"strings"

	"teamdata/store"
)

// person is who did something, as pages name them.
type person struct {
	ID    string // of the user, or what else acted; empty: the system
	Name  string // what is known best: name, email, or id
	Email string
	Path  string // of a page about it; may be empty
}

// person finds the person or program with an id: a member of the org, a former member with
// an account, an API key of the org, or the operator. Any other id is its own name, unless
// it is a former member's. Each id is looked up once in a request.
func (r *request) person(tx store.Tx, id string) (person, error) {
	if known, ok := r.people[id]; ok {
		return known, nil
	}
	p, err := r.findPerson(tx, id)
	if err != nil {
		return p, err
	}
	if r.people == nil {
		r.people = map[string]person{}
	}
	r.people[id] = p
	return p, nil
}

func (r *request) findPerson(tx store.Tx, id string) (person, error) {
	switch {
	case id == "":
		return person{Name: "System"}, nil
	case strings.HasPrefix(id, store.PrefixOperator):
		return person{ID: id, Name: "Operator"}, nil
	case !store.ValidID(id): // an application's own
		return person{ID: id, Name: id}, nil
	case strings.HasPrefix(id, store.PrefixAPIKey):
		return r.keyAsPerson(tx, id)
	}
	m, err := tx.Member(r.Org.ID, id)
	if err == nil {
		return r.memberAsPerson(m), nil
	}
	if !store.IsNotFound(err) {
		return person{}, err
	}
	a, err := tx.Account(id)
	if err != nil && !store.IsNotFound(err) {
		return person{}, err
	}
	p := person{ID: id, Name: cmp.Or(a.Email, id), Email: a.Email}
	if strings.HasPrefix(p.Name, store.PrefixUser) {
		p.Name = "Former member" // whose name went with the membership
	}
	return p, nil
}

func (r *request) memberAsPerson(m store.Member) person {
	return person{ID: m.UserID, Name: cmp.Or(m.Name, m.Email, m.UserID), Email: m.Email, Path: r.path("members", m.UserID)}
}

func (r *request) keyAsPerson(tx store.Tx, id string) (person, error) {
	k, err := store.FindKey(tx, r.Org.ID, id)
	if store.IsNotFound(err) {
		return person{ID: id, Name: id}, nil
	}
	return person{ID: id, Name: "API key " + cmp.Or(k.Name, id), Path: r.path("keys", id)}, err
}

// memberBy finds a member by the id of the membership. Its time is close to the member's
// position in the list, so the member is there or among the next few. An id that was
// imported may have another form: that member is searched for among the first ones of the
// org. notFound: the member was removed, or is not among them.
func (r *request) memberBy(tx store.Tx, id string) (store.Member, error) {
	type part struct {
		after store.Cursor
		limit int
	}
	parts := []part{{limit: maxSearched}}
	if ms, ok := store.IDTime(id); ok && ms > 1 {
		parts = []part{{store.Cursor{Ms: ms, ID: id[:len(id)-1]}, maxSameTime}, {store.Cursor{Ms: ms - 2, ID: "~"}, maxSameTime}}
	}
	for _, p := range parts {
		members, err := r.membersAfter(tx, p.after, p.limit)
		i := slices.IndexFunc(members, func(m store.Member) bool { return m.ID == id })
		if err != nil {
			return store.Member{}, err
		}
		if i >= 0 {
			return members[i], nil
		}
	}
	return store.Member{}, errNoPage
}

// membersAfter lists members of the org. The first ones are read once in a request.
func (r *request) membersAfter(tx store.Tx, after store.Cursor, limit int) ([]store.Member, error) {
	if after.IsZero() && r.firstMembers != nil {
		return r.firstMembers, nil
	}
	_, members, err := tx.ListMembers(r.Org.ID, after, limit)
	if after.IsZero() {
		r.firstMembers = members
	}
	return members, err
}

// maxSameTime is among how many members that were added at the same time one is found.
const maxSameTime = 20
