package boltstore

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"teamdata/store"
)

// says holds what is read to a text.
func (f *fixture) says(what string, got any, want string) {
	f.Helper()
	if text := fmt.Sprint(got); text != want {
		f.Errorf("%s: %s, want %s", what, text, want)
	}
}

// numbersOf are the places of deliveries among all that were made to whe_1 of
// org_acme.
func (f *fixture) numbersOf(list store.DeliveryList) (text string) {
	f.Helper()
	f.view(func(tx store.Tx) error {
		ids := f.schema1IDs(tx)
		page, _, err := tx.DeliveryPage(1, list, store.Cursor{}, 100)
		for _, d := range page {
			text += fmt.Sprintf("%d at %s; ", slices.Index(ids, d.ID), d.FinishedAt.Format("15:04:05.0"))
			if d.EventType != store.EventFileUploaded || len(d.History) > 0 {
				f.Errorf("the delivery is %+v", d)
			}
		}
		return err
	})
	return strings.TrimSuffix(text, "; ")
}

func (f *fixture) schema1IDs(tx store.Tx) (ids []string) {
	f.Helper()
	for _, list := range []store.DeliveryList{store.ListAcknowledged, store.ListWaiting, store.ListFailed} {
		page, _, err := tx.DeliveryPage(1, list, store.Cursor{}, 100)
		must(f, err)
		for _, d := range page {
			ids = append(ids, d.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

func (f *fixture) findSchema1Queue() {
	f.Helper()
	f.says("acknowledged", f.numbersOf(store.ListAcknowledged), "1 at 12:01:21.1; 0 at 12:00:20.0")
	f.says("waiting", f.numbersOf(store.ListWaiting), "5 at 00:00:00.0; 2 at 00:00:00.0")
	f.says("failed", f.numbersOf(store.ListFailed), "4 at 13:01:25.1; 3 at 12:00:23.0")
	for endpoint, want := range map[uint64]int{1: 2, 2: 6, 3: 0, 4: 1, 5: 2, 6: 1} {
		claims, err := f.Claim(bg, endpoint, schema1At, 100)
		must(f, err)
		f.says(fmt.Sprintf("due of endpoint %d", endpoint), len(claims.Claims), fmt.Sprint(want))
		for _, c := range claims.Claims {
			if !bytes.HasPrefix(c.Body, []byte(`{"type":"`)) {
				f.Errorf("the body of %s is %q", c.Delivery.ID, c.Body)
			}
			f.Release(c.Delivery.ID)
		}
	}
	f.view(func(tx store.Tx) error {
		held, _, err := tx.DeliveryPage(3, store.ListWaiting, store.Cursor{}, 100)
		f.says("held", len(held), "6")
		event, errEvent := tx.Event(held[0].EventID)
		f.says("deliveries of an event", len(event.Deliveries), "3")
		last, errLast := tx.LastAcknowledged(1)
		f.says("last acknowledged", last.Format("15:04:05.0"), "12:01:21.1")
		return errors.Join(err, errEvent, errLast)
	})
}

func (f *fixture) findSchema1Records() {
	f.Helper()
	f.view(func(tx store.Tx) error {
		for _, org := range []string{"org_acme", "org_other"} {
			managers, err := tx.Managers(org)
			must(f, err)
			text := ""
			for _, m := range managers {
				text += m.UserID + " " + m.Role + " " + m.Email + "; "
			}
			domain := strings.TrimPrefix(org, "org_") + ".example"
			f.says("managers", text, "usr_ada owner ada@"+domain+"; usr_bob admin bob@"+domain+"; ")
			owners, err := tx.CountOwners(org)
			must(f, err)
			f.says("owners", owners, "1")
			members, err := tx.MemberPage(org, store.Cursor{}, 100, nil)
			must(f, err)
			f.says("members", members.Count, "5")
		}
		log, errLog := tx.AuditPage("org_acme", store.Cursor{}, 100, nil)
		f.says("audit entries", log.Count, "14")
		off, errOff := tx.Endpoint("org_acme", "whe_off")
		f.says("disabled at", off.DisabledAt.Format("15:04:05"), "12:00:19")
		key, errKey := tx.APIKey("key_1")
		f.says("the key", key.Matches("secret"), "true")
		used, errUsed := tx.IdempotencyRecord("org_acme", "once")
		f.says("the answer kept", used.Answer.Status, "202")
		plan, errPlan := tx.Plan("pro")
		f.says("the plan", plan.Features, "api")
		text, errText := tx.Instructions("org_other")
		f.says("instructions", text.Text, "Be brief.")
		pem, errPEM := tx.Certificate("ca")
		f.says("the certificate", string(pem), "pem")
		return errors.Join(errLog, errOff, errKey, errUsed, errPlan, errText, errPEM)
	})
}
