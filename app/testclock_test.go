package app

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"teamdata/e2e/kit"
	"teamdata/store"
)

// run starts a server in this process, and runs it until the test ends.
func run(t *testing.T, s Settings) *App {
	t.Helper()
	s.Data, s.Listen, s.HTTP = filepath.Join(t.TempDir(), "teamdata.db"), "127.0.0.1:0", true
	ctx, cancel := context.WithCancel(context.Background())
	a, err := Start(ctx, s, zerolog.Nop())
	kit.Must(t, err)
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return a
}

func TestClockIsNotMoved(t *testing.T) {
	a := run(t, Defaults())
	for what, err := range map[string]error{"advance": a.Advance(t.Context(), time.Hour), "reset": a.Reset(t.Context(), "")} {
		if err == nil || !strings.Contains(err.Error(), "system's clock") {
			t.Errorf("without a test clock, %s returns %v", what, err)
		}
	}
	s := Defaults()
	s.Clock = NewStandingClock(time.Now())
	a = run(t, s)
	before := s.Clock.Now()
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for what, err := range map[string]error{
		"back": a.Advance(t.Context(), -1), "too far": a.Advance(t.Context(), MaxAdvance+1), "with its context done": a.Advance(done, time.Hour),
	} {
		if err == nil || !s.Clock.Now().Equal(before) {
			t.Errorf("moved %s: %v, and it is %s", what, err, s.Clock.Now().Sub(before))
		}
	}
	if err := a.Advance(t.Context(), MaxAdvance); err != nil || !s.Clock.Now().Equal(before.Add(MaxAdvance)) {
		t.Errorf("moved as far as it may be: %v, and it is %s", err, s.Clock.Now().Sub(before))
	}
	about, err := a.store.About()
	if err != nil || !about.Now.Equal(s.Clock.Now()) {
		t.Errorf("by the clock of the store it is %s: %v", about.Now, err)
	}
}

// What goes on in the background is done when the clock has moved, too: nobody could tell
// otherwise whether a replay has sent anything, or a deleted org's id is free.
func TestAdvanceWaitsForTheBackground(t *testing.T) {
	s := Defaults()
	s.Clock = NewStandingClock(time.Now())
	a := run(t, s)
	var replay store.ReplayJob
	create := func(id string) error {
		return a.store.Update(t.Context(), store.All, func(tx store.Tx) error {
			_, err := store.CreateOrg(tx, "", store.Org{ID: id, Name: "Acme"})
			return err
		})
	}
	kit.Must(t, create("org_acme"))
	kit.Must(t, create("org_old"))
	kit.Must(t, a.Advance(t.Context(), 0)) // and the background's own start is over
	kit.Must(t, a.store.Update(t.Context(), store.All, func(tx store.Tx) (err error) {
		replay, err = store.StartReplay(tx, "", store.ReplayJob{OrgID: "org_acme"})
		return errors.Join(err, store.DeleteOrg(tx, "org_old"))
	}))
	kit.Must(t, a.Advance(t.Context(), 0))
	kit.Must(t, a.store.View(t.Context(), func(tx store.Tx) (err error) {
		replay, err = store.FindReplay(tx, "org_acme", replay.ID)
		return err
	}))
	if replay.State != store.ReplayDone {
		t.Errorf("the replay is %s", replay.State)
	}
	if err := create("org_old"); err != nil {
		t.Errorf("an org like the deleted one: %v", err)
	}
}

// A reset imports the seed again. If it can't be imported any more, nothing is there but the
// operator token that the reset keeps. A seed may have that token, too.
func TestResetImportsTheSeed(t *testing.T) {
	s := Defaults()
	s.Clock = new(TestClock)
	s.Seed = filepath.Join(t.TempDir(), "seed.json")
	write := func(content string) {
		t.Helper()
		kit.WriteFile(t, s.Seed, content)
	}
	const good = `{"orgs":[{"id":"org_acme","name":"Acme"}]}`
	write(good)
	a := run(t, s)
	orgs := func() (ids string) {
		t.Helper()
		err := a.store.View(t.Context(), func(tx store.Tx) error {
			list, err := tx.Orgs("", 9)
			for _, o := range list {
				ids += o.ID + " "
			}
			return err
		})
		kit.Must(t, err)
		return ids
	}
	err := a.store.Update(t.Context(), store.All, func(tx store.Tx) error {
		_, err := store.CreateOrg(tx, "", store.Org{ID: "org_new", Name: "New"})
		kept := store.OperatorToken{ID: "opr_kept", Name: "kept", SecretHash: store.HashSecret("t0ken")}
		return errors.Join(err, store.ImportOperatorToken(tx, kept), store.ImportOperatorToken(tx, store.OperatorToken{ID: "opr_gone", Name: "gone"}))
	})
	kit.Must(t, err)
	tokens := func() (names string) {
		t.Helper()
		kit.Must(t, a.store.View(t.Context(), func(tx store.Tx) error {
			list, err := tx.OperatorTokens()
			for _, o := range list {
				names += o.Name + " "
			}
			return err
		}))
		return names
	}
	const seeded = `"operatorTokens":[{"id":"opr_kept","name":"of the seed","secret":"t0ken"}],`
	for _, row := range []struct{ seed, wrong, left, tokens string }{
		{good, "", "org_acme ", "kept "},
		{`{"orgs":[{"id":"org_acme","name":"Acme","members":[{"userId":"a b","role":"owner"}]}]}`, "members[0].userId", "", "kept "},
		{good, "", "org_acme ", "kept "},
		{"{" + seeded + good[1:], "", "org_acme ", "of the seed "},
		{"{" + strings.Replace(seeded, "t0ken", "another", 1) + good[1:], "", "org_acme ", "of the seed "},
		{good, "", "org_acme ", "of the seed "},
	} {
		write(row.seed)
		err := a.Reset(t.Context(), "opr_kept")
		if left := orgs(); left != row.left || (err == nil) != (row.wrong == "") || err != nil && !strings.Contains(err.Error(), row.wrong) {
			t.Errorf("%s leaves %s: %v", row.seed, left, err)
		}
		if left := tokens(); left != row.tokens {
			t.Errorf("%s leaves the tokens %s", row.seed, left)
		}
	}
}

// A listener that a service manager hands over to a server with a test clock has to be
// on this machine, as --listen has to.
func TestCheckLoopback(t *testing.T) {
	for _, test := range []struct {
		address net.Addr
		ok      bool
	}{
		{&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8443}, true},
		{&net.TCPAddr{IP: net.IPv6loopback, Port: 8443}, true},
		{&net.TCPAddr{IP: net.IPv4zero, Port: 8443}, false},
		{&net.TCPAddr{IP: net.IPv6unspecified, Port: 8443}, false},
		{&net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 8443}, false},
		{&net.TCPAddr{Port: 8443}, false},
		{&net.UnixAddr{Name: "/run/teamdata/http.sock", Net: "unix"}, false},
	} {
		if err := checkLoopback(test.address); (err == nil) != test.ok {
			t.Errorf("%s: %v", test.address, err)
		}
	}
}
