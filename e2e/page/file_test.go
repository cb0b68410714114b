package page_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/issuer"
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
	kit.Must(t, err)
	defer s.Close()
	p.store = s
	p.update(fillOrgs)
	p.update(fillEndpoints)
	p.update(func(tx store.Tx) error { return fillOptions(t, tx) })
	p.update(fillPulls)
	for hour := range 30 * 24 {
		p.now = p.now.Add(time.Hour)
		p.update(func(tx store.Tx) error { return passHourOfDeliveries(tx, hour) })
		p.update(func(tx store.Tx) error { return passHourOfPulls(tx, hour) })
	}
	p.update(leavePulls)
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
	kit.Must(p.t, p.store.Update(context.Background(), store.All, fn))
}

func fillOrgs(tx store.Tx) error {
	for _, o := range []store.Org{
		{ID: "org_acme", Name: "Acme Aeronautics", Subscription: store.Subscription{Plan: "business", Interval: "month"}},
		{ID: "org_new", Name: "The Company for Extraordinarily Long-Winded and Sesquipedalian Denominations, Öffentlichkeitsarbeit"},
		{ID: "org_lone", Name: "Lone Pine", Subscription: store.Subscription{Plan: "free"}},
		{ID: "org_hostile", Name: hostileName, Subscription: store.Subscription{Plan: "business", Interval: "month"}},
	} {
		if _, err := store.CreateOrg(tx, "", o); err != nil {
			return err
		}
		ada := store.Member{OrgID: o.ID, UserID: "usr_ada", Role: store.RoleOwner, Name: "Ada Okafor", Email: "ada@acme.example"}
		if _, err := store.AddMember(tx, "", ada); err != nil {
			return err
		}
	}
	if err := fillHostile(tx); err != nil {
		return err
	}
	return fillMembers(tx)
}

// hostileName turns the text after it around, is markup, and has nowhere to break.
var hostileName = "\u202e<img src=x onerror=alert(1)>\"'&amp;" + strings.Repeat("W", 120)

// fillHostile gives an org nothing but names that want to break its pages.
func fillHostile(tx store.Tx) error {
	m := store.Member{OrgID: "org_hostile", UserID: "usr_hostile", Role: store.RoleAdmin, Name: hostileName, Email: strings.Repeat("w", 60) + "@acme.example"}
	if _, err := store.AddMember(tx, "usr_ada", m); err != nil {
		return err
	}
	k := store.APIKey{OrgID: "org_hostile", Name: hostileName[:90], Scopes: store.ScopeRead, CreatedBy: m.UserID}
	if _, _, err := store.CreateKey(tx, m.UserID, k); err != nil {
		return err
	}
	e := store.Endpoint{ID: "whe_hostile", OrgID: "org_hostile", URL: "https://" + strings.Repeat("w", 60) + ".example/" + strings.Repeat("W", 400), Description: hostileName, Events: []string{"member.added"}}
	_, err := store.CreateEndpoint(tx, m.UserID, e)
	return err
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
		{ID: "whe_slow", URL: "https://a-rather-long-host-name.eu-central-1.internal.acme.example/integrations/teamdata/v2/" + strings.Repeat("receive-", 20) + "?tenant=acme", Description: "The data warehouse's loader, which is slow in the morning and fails now and then", Events: events},
		{ID: "whe_dead", URL: "https://old.acme.example/hook", Events: events[:1]},
		{ID: "whe_fail", URL: "https://billing.acme.example/webhooks", Events: events},
		{ID: "whe_idle", URL: "https://staging.acme.example/hook", Description: "Staging", Events: events[4:]},
	} {
		e.OrgID = "org_acme"
		if _, err := store.CreateEndpoint(tx, fmt.Sprintf("usr_%03d", i), e); err != nil {
			return err
		}
	}
	for i := range 6 { // without a delivery
		e := store.Endpoint{OrgID: "org_acme", URL: fmt.Sprintf("https://team%d.acme.example/hook", i), Events: []string{"file.uploaded"}}
		if _, err := store.CreateEndpoint(tx, "usr_ada", e); err != nil {
			return err
		}
	}
	return nil
}

// fillOptions gives endpoints options: one with a certificate that ends soon, one with a
// certificate that has ended by now, and as many headers as are allowed, with long names.
func fillOptions(t testing.TB, tx store.Tx) error {
	rate, most, end := "10/s", 4, time.Now().Add(10*24*time.Hour)
	chain, key := issued(t, "teamdata.acme.example", "Acme Internal CA", end)
	value := "open-sesame"
	good := store.SendChange{Rate: &rate, MaxInFlight: &most, Headers: map[string]*string{"X-Api-Key": &value, "X-Tenant": &value}, ClientCertificate: &chain, ClientKey: &key}
	oldChain, oldKey := issued(t, strings.Repeat("w", 60)+".acme.example", strings.Repeat("Acme ", 11), tx.Now().Add(24*time.Hour))
	long := store.SendChange{Headers: map[string]*string{}, ClientCertificate: &oldChain, ClientKey: &oldKey, CA: &chain}
	for i := range store.MaxHeaders {
		long.Headers[fmt.Sprintf("X-%d-%s", i, strings.Repeat("W", 10*i))] = &value
	}
	for id, change := range map[string]store.SendChange{"whe_good": good, "whe_slow": long} {
		if _, err := store.ChangeEndpoint(tx, "usr_ada", "org_acme", id, store.EndpointChange{Sending: change}); err != nil {
			return err
		}
	}
	return nil
}

// issued is a certificate and its key, both in PEM; its issuer's certificate follows it.
func issued(t testing.TB, name, by string, end time.Time) (chain, key string) {
	t.Helper()
	ca := issuer.New(t, by)
	certificate, key := ca.Issue(t, name, end)
	return certificate + ca.PEM, key
}

func fillKeys(tx store.Tx) error {
	for i, name := range []string{"Nightly export", "warehouse-loader (" + strings.Repeat("very ", 20) + "long name)", "", "CI", "Old laptop", "A", "B", "C", "D", "E", "F", "G", "H", "I"} {
		k := store.APIKey{OrgID: "org_acme", Name: name, Scopes: store.ScopeRead, CreatedBy: "usr_ada"}
		if i%2 == 1 {
			k.Scopes, k.ExpiresAt = store.ScopeRead|store.ScopeWrite, tx.Now().Add(time.Duration(i)*30*24*time.Hour)
		}
		k, _, err := store.CreateKey(tx, "usr_ada", k)
		if err == nil && i < 2 {
			err = tx.PutKeyUse(k.ID, store.KeyUse{LastUsedAt: tx.Now().Add(-time.Hour)})
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
