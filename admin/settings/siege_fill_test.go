package settings

import (
	"time"

	"teamdata/store"
)

// stored is a text that each page shows as it is, and that wants to leave its place.
const stored = `<zz> "zz=" 'zz=' </textarea><zz>`

// fillHostile writes it wherever a text may be.
func fillHostile(tx store.Tx) error {
	_, err := store.RenameOrg(tx, "", "org_acme", stored)
	if err == nil {
		_, err = store.AddMember(tx, "usr_alan", store.Member{OrgID: "org_acme", UserID: "usr_zz", Role: stored, Name: stored, Email: `"<zz>"@x.example`})
	}
	if err == nil {
		err = store.SetInstructions(tx, "usr_alan", "org_acme", stored, true)
	}
	if err == nil {
		err = store.AddPasskey(tx, "usr_alan", store.Passkey{ID: "pk", Name: stored, Credential: []byte(stored)})
	}
	if err == nil {
		_, _, err = store.CreateSession(tx, "usr_alan", stored)
	}
	return err
}

// arrange makes what the forms are for, as far as it is not there (any more).
func (s *siege) arrange() {
	s.Helper()
	s.update(func(tx store.Tx) error {
		if _, err := tx.Endpoint("org_acme", "whe_mine"); store.IsNotFound(err) {
			if err := s.arrangeEndpoint(tx); err != nil {
				return err
			}
		}
		if _, err := tx.APIKey("key_mine"); err == nil {
			return nil
		}
		_, err := store.ImportKey(tx, store.APIKey{ID: "key_mine", OrgID: "org_acme", Name: stored, Scopes: store.ScopeRead, CreatedBy: "usr_alan"})
		return err
	})
}

// arrangeEndpoint makes whe_mine, with a delivery that was answered.
func (s *siege) arrangeEndpoint(tx store.Tx) error {
	e := store.Endpoint{ID: "whe_mine", OrgID: "org_acme", URL: `https://acme.example/'zz='<zz>`, Description: stored, Events: []string{"member.added"}}
	if _, err := store.ImportEndpoint(tx, e); err != nil {
		return err
	}
	d, err := store.SendTest(tx, "org_acme", "whe_mine")
	if err != nil {
		return err
	}
	s.delivery = d.ID
	a := store.Attempt{StartedAt: tx.Now(), EndedAt: tx.Now(), Status: 500, Reason: stored, Answer: []byte(stored + "\xff")}
	_, err = store.RecordAttempt(tx, d.ID, a, []time.Duration{time.Minute})
	return err
}

// arrangeOther gives org_other what there is one of in org_acme.
func (s *siege) arrangeOther(tx store.Tx) error {
	d, err := store.SendTest(tx, "org_other", "whe_other")
	if err != nil {
		return err
	}
	s.theirs = d.ID
	_, err = store.ImportKey(tx, store.APIKey{ID: "key_other", OrgID: "org_other", Scopes: store.ScopeRead, CreatedBy: "usr_olga"})
	return err
}
