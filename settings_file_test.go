package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"teamdata/store"
	"teamdata/store/boltstore"
)

// past is a data file whose clock is the test's.
type past struct {
	t     testing.TB
	store *boltstore.Store
	now   time.Time
}

// settingsFile writes a data file with a month of a team's data, long names among
// it, and a new org with nothing, both of usr_ada. It returns the file and the
// cookie of a session.
func settingsFile(t testing.TB) (file, cookie string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "teamdata.db")
	p := &past{t: t, now: time.Now().Add(-30 * 24 * time.Hour)}
	s, err := boltstore.Open(file, boltstore.Options{NoSync: true, Now: func() time.Time { return p.now }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p.store = s
	p.update(fillOrgs)
	p.update(fillEndpoints)
	for hour := range 30 * 24 {
		p.now = p.now.Add(time.Hour)
		p.update(func(tx store.Tx) error { return passHour(tx, hour) })
	}
	p.update(fillKeys)
	p.update(func(tx store.Tx) (err error) {
		if _, _, err = store.CreateSignInLink(tx, "org_acme", "usr_ada", time.Hour); err == nil {
			cookie, err = fillAccount(tx)
		}
		return err
	})
	return file, cookie
}

// fillAccount gives the account two sessions and two passkeys.
func fillAccount(tx store.Tx) (cookie string, err error) {
	for i, browser := range []string{
		"Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Mobile/15E148 Safari/604.1",
		"Mozilla/5.0 (X11; Linux x86_64; rv:142.0) Gecko/20100101 Firefox/142.0",
	} {
		p := store.Passkey{ID: fmt.Sprintf("passkey%d", i), Name: strings.Repeat("my very own telephone ", i*5) + "phone", Credential: []byte("{}")}
		if err := store.AddPasskey(tx, "usr_ada", p); err != nil {
			return "", err
		}
		if _, cookie, err = store.CreateSession(tx, "usr_ada", browser); err != nil {
			return "", err
		}
	}
	return cookie, nil
}

func (p *past) update(fn func(store.Tx) error) {
	p.t.Helper()
	if err := p.store.Update(context.Background(), fn); err != nil {
		p.t.Fatal(err)
	}
}

func fillOrgs(tx store.Tx) error {
	for _, o := range []store.Org{
		{ID: "org_acme", Name: "Acme Aeronautics", Subscription: store.Subscription{Plan: "business", Interval: "month"}},
		{ID: "org_new", Name: "The Company for Extraordinarily Long-Winded and Sesquipedalian Denominations, Öffentlichkeitsarbeit"},
		{ID: "org_lone", Name: "Lone Pine", Subscription: store.Subscription{Plan: "free"}},
	} {
		if _, err := store.CreateOrg(tx, "", o); err != nil {
			return err
		}
		ada := store.Member{OrgID: o.ID, UserID: "usr_ada", Role: store.RoleOwner, Name: "Ada Okafor", Email: "ada@acme.example"}
		if _, err := store.AddMember(tx, "", ada); err != nil {
			return err
		}
	}
	return fillMembers(tx)
}

func fillMembers(tx store.Tx) error {
	names := []string{"Bruno Castell", "Chloé Martin", "Deniz Yılmaz", "絵美子", "Wolfeschlegelsteinhausenbergerdorff-Featherstonehaugh", ""}
	for i := range 130 {
		m := store.Member{OrgID: "org_acme", UserID: fmt.Sprintf("usr_%03d", i), Role: store.RoleMember, Name: names[i%len(names)]}
		if i < 8 {
			m.Role, m.Email = store.RoleAdmin, fmt.Sprintf("a.very.long.address.of.admin.number.%d@subdomain.of.acme.example", i)
		}
		if _, err := store.AddMember(tx, "usr_ada", m); err != nil {
			return err
		}
	}
	return store.SetInstructions(tx, "usr_ada", "org_acme", "Answer in English.\nKeep it short, and say when you are not sure.\n", true)
}

func fillEndpoints(tx store.Tx) error {
	if err := tx.PutEventType(store.EventType{Name: "invoice.paid", Description: "An invoice was paid in full."}); err != nil {
		return err
	}
	events := []string{"member.added", "member.removed", "subscription.changed", "file.uploaded", "assistant.instructionsChanged", "invoice.paid"}
	for i, e := range []store.Endpoint{
		{ID: "whe_good", URL: "https://hooks.acme.example/teamdata", Description: "Billing", Events: events},
		{ID: "whe_slow", URL: "https://a-rather-long-host-name.eu-central-1.internal.acme.example/integrations/teamdata/v2/" + strings.Repeat("receive-", 20) + "?tenant=acme", Description: "The data warehouse's loader, which is slow in the morning and now and then in vain", Events: events},
		{ID: "whe_dead", URL: "https://old.acme.example/hook", Events: events[:1]},
		{ID: "whe_idle", URL: "https://staging.acme.example/hook", Description: "Staging", Events: events[4:]},
	} {
		e.OrgID = "org_acme"
		if _, err := store.CreateEndpoint(tx, fmt.Sprintf("usr_%03d", i), e); err != nil {
			return err
		}
	}
	return nil
}

// passHour emits events and attempts what is waiting, with the outcomes of three
// receivers: one that is well, one that is slow, one that is dead.
func passHour(tx store.Tx, hour int) error {
	for i := range 1 + (hour*7)%5 {
		data := fmt.Sprintf(`{"orgId":"org_acme","invoice":"inv_%d_%d","lines":[{"text":"seats & <b>more</b>","cents":%d}]}`, hour, i, 100*hour)
		if _, err := store.Emit(tx, "org_acme", "invoice.paid", []byte(data)); err != nil {
			return err
		}
	}
	if hour == 700 {
		if _, err := store.Emit(tx, "org_acme", "member.added", []byte(`{"orgId":"org_acme","userId":"usr_129"}`)); err != nil {
			return err
		}
	}
	endpoints, err := tx.Endpoints("org_acme")
	for i := range endpoints {
		if err == nil {
			err = attemptAll(tx, &endpoints[i], hour)
		}
	}
	return err
}

func attemptAll(tx store.Tx, e *store.Endpoint, hour int) error {
	if e.ID == "whe_idle" && hour == 715 {
		return store.DisableEndpoint(tx, "usr_ada", e.OrgID, e.ID)
	}
	due, _, err := tx.DeliveryPage(e.Number, store.ListWaiting, store.Cursor{}, 100)
	if err != nil || e.Disabled() {
		return err
	}
	for i, d := range due {
		if d.DueAt.After(tx.Now()) {
			continue
		}
		schedule := halves
		if e.ID == "whe_dead" {
			schedule = schedule[:1]
		}
		if _, err := store.RecordAttempt(tx, d.ID, outcome(tx.Now(), e.ID, hour, i), schedule); err != nil {
			return err
		}
	}
	return nil
}

// halves let nothing become due while the file is looked at: the addresses are
// none of this machine's.
var halves = []time.Duration{90 * time.Minute, 150 * time.Minute, 270 * time.Minute}

// outcome is that of one attempt at an endpoint.
func outcome(now time.Time, endpoint string, hour, i int) store.Attempt {
	a := store.Attempt{StartedAt: now, EndedAt: now.Add(time.Duration(20+hour%60) * time.Millisecond), Status: 204}
	switch {
	case endpoint == "whe_dead":
		a.Status, a.Reason = 0, "the host name old.acme.example was not found"
	case endpoint == "whe_slow" && hour%24 > 5 && hour%24 < 9:
		a.EndedAt, a.Status, a.TimedOut, a.Reason = now.Add(15*time.Second), 0, true, "no answer within 15s"
	case endpoint == "whe_slow" && (hour+i)%9 == 0:
		a.Status, a.Reason, a.Answer = 503, "answered 503", []byte("<html><body><h1>503 Service Temporarily Unavailable</h1><p>"+strings.Repeat("upstream ", 40)+"</p></body></html>")
	case endpoint == "whe_slow":
		a.EndedAt = now.Add(time.Duration(300+hour%2400) * time.Millisecond)
	}
	return a
}

func fillKeys(tx store.Tx) error {
	for i, name := range []string{"Nightly export", "warehouse-loader (" + strings.Repeat("very ", 20) + "long name)", "", "CI", "Old laptop"} {
		k := store.APIKey{OrgID: "org_acme", Name: name, Scopes: store.ScopeRead, CreatedBy: "usr_ada"}
		if i%2 == 1 {
			k.Scopes, k.ExpiresAt = store.ScopeRead|store.ScopeWrite, tx.Now().Add(time.Duration(i)*30*24*time.Hour)
		}
		k, _, err := store.CreateKey(tx, "usr_ada", k)
		if err == nil && i < 2 {
			err = tx.PutKeyLastUsed(k.ID, tx.Now().Add(-time.Hour))
		}
		if err == nil && i == 4 {
			err = store.RevokeKey(tx, "usr_ada", "org_acme", k.ID)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
