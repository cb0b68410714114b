package admin

import (
	"teamdata/client/admin/api"
	"teamdata/store"
	"teamdata/wire/web"
)

func memberJSON(m store.Member, created map[string][]store.APIKey) []byte {
	return memberObject(m, created).end()
}

// memberObject has a member with the number of the org's keys that the member
// created: either all work or none does.
func memberObject(m store.Member, created map[string][]store.APIKey) object {
	active, suspended := int64(len(created[m.UserID])), int64(0)
	if !m.Manages() {
		active, suspended = suspended, active
	}
	return newObject().text("id", m.ID).namedTexts(m.Texts()).time("createdAt", m.CreatedAt).
		raw("apiKeys", newObject().number("active", active).number("suspended", suspended).end())
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
		page, members, err := tx.ListMembers(r.org(), q.After, q.Limit)
		if err != nil {
			return page, err
		}
		created, err := store.CreatedKeys(tx, r.org())
		page.Items = append([]byte(web.PageStart), joined(members, func(m store.Member) []byte { return memberJSON(m, created) })...)
		return page, err
	})
}

func (r *request) addMember() error {
	values := valuesOf(decode[api.NewMember](r))
	m := values.Of(store.Member{OrgID: r.org(), UserID: values.UserID})
	r.beyond = store.OfUser(m.UserID)
	return r.idempotent(func(tx store.Tx) (store.Answer, error) {
		m, err := store.AddMember(tx, r.actor, m)
		shown, err := formatMember(tx, m, err)
		return created(shown), err
	})
}

// addMembers adds the members of a batch, or with upsert puts them as putMember
// does.
func (r *request) addMembers() error {
	const places = "members"
	var upsert, dryRun bool
	members := readBatch[api.NewMember](r, places, r.in.Value("upsert", &upsert), r.in.Value("dryRun", &dryRun))
	batch := make([]store.MemberValues, len(members))
	for i, m := range members {
		batch[i] = valuesOf(m)
		r.beyond.Users = append(r.beyond.Users, m.UserID)
	}
	work := func(tx store.Tx) (store.Answer, error) {
		outcomes, err := r.addEach(tx, places, batch, upsert)
		if err != nil {
			return store.Answer{}, err
		}
		keys, err := store.CreatedKeys(tx, r.org())
		body := list(newObject(), places, outcomes, func(o store.MemberOutcome) []byte { return outcomeJSON(o, keys) }).end()
		if upsert || dryRun {
			return ok(body), err
		}
		return created(body), err
	}
	if dryRun {
		return r.dryRun(work)
	}
	return r.idempotent(work)
}

func (r *request) addEach(tx store.Tx, places string, batch []store.MemberValues, upsert bool) ([]store.MemberOutcome, error) {
	if upsert {
		outcomes, failed, err := store.PutMembers(tx, r.actor, r.org(), batch)
		return outcomes, atPlace(places, failed, err)
	}
	return eachPlace(places, batch, func(_ int, m store.MemberValues) (o store.MemberOutcome, err error) {
		o.Now, err = store.AddMember(tx, r.actor, m.Of(store.Member{OrgID: r.org(), UserID: m.UserID}))
		return o, err
	})
}

func outcomeJSON(o store.MemberOutcome, created map[string][]store.APIKey) []byte {
	result := "changed"
	switch o.Was {
	case store.Member{}:
		result = "added"
	case o.Now:
		result = "unchanged"
	}
	shown := newObject().text("result", result).raw("member", memberJSON(o.Now, created))
	if result == "changed" {
		shown = shown.raw("was", newObject().namedTexts(o.Was.Texts()[1:]).end())
	}
	return shown.end()
}

// readMember also tells the sign-in name, which belongs to the account and so to all orgs of
// the user: operators may see those.
func (r *request) readMember() error {
	return r.view(func(tx store.Tx) (store.Answer, error) {
		m, err := tx.Member(r.org(), r.Param("userId"))
		if store.IsNotFound(err) {
			err = errNoMember
		}
		if err != nil {
			return store.Answer{}, err
		}
		created, err := store.CreatedKeys(tx, m.OrgID)
		if err != nil {
			return store.Answer{}, err
		}
		shown := memberObject(m, created)
		a, err := tx.Account(m.UserID)
		if a.SignInName != "" {
			shown = shown.text("signInName", a.SignInName)
		}
		if store.IsNotFound(err) {
			err = nil
		}
		return ok(shown.end()), err
	})
}

var errNoMember = store.Errorf(store.CodeNotFound, "The org has no such member.")

func valuesOf(m api.NewMember) store.MemberValues {
	return store.MemberValues{UserID: m.UserID, MemberChange: store.MemberChange{Role: &m.Role, Name: m.Name, Email: m.Email}}
}

func (r *request) putMember() error {
	b := decode[api.MemberValues](r)
	values := valuesOf(api.NewMember{UserID: r.Param("userId"), Role: b.Role, Name: b.Name, Email: b.Email})
	r.beyond = store.OfUser(values.UserID)
	return r.update(func(tx store.Tx) (store.Answer, error) {
		o, err := store.PutMember(tx, r.actor, r.org(), values)
		shown, err := formatMember(tx, o.Now, err)
		return put(o.Was.ID == "", shown), err
	})
}

func (r *request) updateMember() error {
	b := decode[api.MemberChange](r)
	change := store.MemberChange{Role: b.Role, Name: b.Name, Email: b.Email}
	r.beyond = store.OfUser(r.Param("userId"))
	return r.update(func(tx store.Tx) (store.Answer, error) {
		m, err := store.ChangeMember(tx, r.actor, r.org(), r.Param("userId"), change)
		shown, err := formatMember(tx, m, err)
		return ok(shown), err
	})
}

func (r *request) removeMember() error {
	r.beyond = store.OfUser(r.Param("userId"))
	return r.update(func(tx store.Tx) (store.Answer, error) {
		userID := r.Param("userId")
		keys, err := store.CreatedKeys(tx, r.org())
		if err == nil {
			err = store.RemoveMember(tx, r.actor, r.org(), userID)
		}
		return ok(newObject().text("userId", userID).number("revokedKeys", int64(len(keys[userID]))).end()), err
	})
}
