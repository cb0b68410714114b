package pgstore

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/store"
	"teamdata/store/rows"
)

var errUndone = errors.New("undone")

// What an overlay knows of the end of a list is what is there, whatever a group appended,
// removed and undid. What it does not know it asks for.
func TestLastIsKept(t *testing.T) {
	database := WithTables(t)
	s := opened(t, database)
	defer s.Close()
	entry := func(org string, ms uint64, id string) []byte {
		return append(rows.Number(rows.Part(nil, org), ms), id...)
	}
	log := kindTable("auditLog")
	put := func(r *tx, key []byte) { kit.Must(t, r.put(log, row{key, []byte("{}")})) }
	last := func(r *tx, want []byte) {
		t.Helper()
		got, err := r.Last(log.of, rows.ByKey, rows.Part(nil, "org_1"))
		if kit.Must(t, err); string(got) != string(want) {
			t.Errorf("the last is %q, and not %q", got, want)
		}
	}
	first, second, third := entry("org_1", 1, "a"), entry("org_1", 2, "a"), entry("org_1", 2, "b")
	update := func(want error, fn func(r *tx)) {
		t.Helper()
		err := s.Update(bg, store.InOrg("org_1"), func(run store.Tx) error {
			fn(ownTx(run))
			return want
		})
		if !errors.Is(err, want) {
			t.Error(err)
		}
	}
	update(nil, func(r *tx) {
		last(r, nil)
		put(r, second)
		last(r, second)
		put(r, first)
		put(r, entry("org_2", 3, "a"))
		last(r, second)
	})
	update(errUndone, func(r *tx) {
		put(r, third)
		last(r, third)
		kit.Must(t, r.remove(log, third))
		kit.Must(t, r.remove(log, second))
		last(r, first)
		put(r, third)
	})
	update(nil, func(r *tx) {
		last(r, second)
		put(r, third)
		kit.Must(t, r.remove(log, second))
		last(r, third)
	})
	update(nil, func(r *tx) { last(r, third) })
}

// An entry of an index is left by a row that moves on or goes, also by one that was not
// read.
func TestLastOfAnIndex(t *testing.T) {
	o := newOverlay()
	in := orderOf("members", "memberList")
	prefix := rows.Part(nil, "org_1")
	entry := func(ms uint64) []byte { return rows.Number(prefix, ms) }
	member := func(user string, ms uint64) row {
		return row{rows.Pair(nil, "org_1", user), entry(ms), []byte("{}"), nil, nil, nil, []byte{}}
	}
	want := func(what string, key []byte) {
		t.Helper()
		if last, known := o.last(in, prefix); known != (key != nil) || string(last) != string(key) {
			t.Errorf("%s: the last is %q, %v", what, last, known)
		}
	}
	write := func(key, r row, unused bool) { o.write(in.table, key[:1], r, unused) }
	two, three := member("two", 2), member("three", 3)
	o.loadedLast(in, prefix, entry(2))
	o.loaded(in.table, two[:1], two)
	o.begin()
	write(three, three, true)
	want("appended", entry(3))
	write(three, member("three", 1), false)
	want("moved away", nil)
	o.rollback()
	want("undone", entry(2))
	o.begin()
	write(two, two, false)
	want("written again", entry(2))
	write(three, nil, false)
	want("removed unread", nil)
	o.rollback()
	want("forgotten", nil)
}

// A page of members is one statement in one round trip, however many there are on it, and
// so is what an Update that appends to both lists of an org reads and writes.
func TestListsRoundTrips(t *testing.T) {
	t.Parallel()
	server := postgres.Shared(t)
	proxy := postgres.NewProxy(t, server)
	s := opened(t, proxy.URL(postgres.Name(t, server.Database(t))))
	defer s.Close()
	kit.Must(t, s.Update(bg, store.All, func(r store.Tx) error {
		err := r.PutOrg(store.Org{ID: "org_1", Name: "One"})
		for i := range 300 {
			_, errMember := r.AppendMember(store.Member{OrgID: "org_1", UserID: fmt.Sprint("usr_", i), Role: store.RoleMember, Email: fmt.Sprint(i, "@test.example")})
			err = errors.Join(err, errMember)
		}
		return err
	}))
	// trips returns the fewest round trips of several tries: the first prepare statements,
	// and the heartbeat makes some of its own beside others.
	trips := func(do func() error) int {
		t.Helper()
		fewest := math.MaxInt
		for range 8 {
			before := proxy.Counts().RoundTrips
			kit.Must(t, do())
			fewest = min(fewest, proxy.Counts().RoundTrips-before)
		}
		return fewest
	}
	page := func(limit int) func() error {
		return func() error {
			return s.View(bg, func(r store.Tx) error {
				page, members, err := r.ListMembers("org_1", store.Cursor{}, limit)
				if err == nil && (len(members) != limit || page.Count != limit || !page.More || members[0].Email != "0@test.example") {
					err = fmt.Errorf("%d members, the first %+v, and the page %+v", len(members), members[0], page)
				}
				return err
			})
		}
	}
	if one, many := trips(page(1)), trips(page(200)); one > 2 || many > 2 { // the second, behind the caller's back, ends the transaction
		t.Errorf("a page of one member takes %d round trips, and one of 200 takes %d", one, many)
	}
	appended := 0
	add := func() error {
		appended++
		return s.Update(bg, store.Scope{Orgs: []string{"org_1"}, Users: []string{fmt.Sprint("new_", appended)}}, func(r store.Tx) error {
			_, err := store.AddMember(r, "", store.Member{OrgID: "org_1", UserID: fmt.Sprint("new_", appended), Role: store.RoleMember})
			return err
		})
	}
	none := func() error {
		return s.Update(bg, store.InOrg("org_1"), func(r store.Tx) error { return r.PutInstructions("org_1", store.Instructions{}) })
	}
	if got, want := trips(add), trips(none); got > want+1 { // of a new user
		t.Errorf("to append takes %d round trips, and not to append %d", got, want)
	}
}
