package pgstore

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"teamdata/store"
)

// Deliveries are claimed with the bodies of their events, whichever process added these.
func TestBodiesOfOtherProcesses(t *testing.T) {
	database := WithTables(t)
	one := steer(t, database, "one")
	other := opened(t, database)
	defer other.Close()
	update(t, one.Store, func(tx store.Tx) error {
		if _, err := store.ImportOrg(tx, store.Org{ID: "org_1", Name: "One"}); err != nil {
			return err
		}
		_, err := store.ImportEndpoint(tx, store.Endpoint{ID: "whe_1", OrgID: "org_1", URL: "https://receiver.example/hook", Events: []string{"*"}})
		return err
	})
	for i := range 6 {
		update(t, []*Store{one.Store, other}[i%2], func(tx store.Tx) error {
			long := fmt.Sprintf(`{"name":"%0300d"}`, i) // a short one shares the row of its delivery
			_, err := store.SendExample(tx, "org_1", "whe_1", "invoice.paid", []byte(long))
			return err
		})
	}
	claims, err := one.Claim(bg, 1, time.Now().Add(time.Hour), 9)
	if err != nil || len(claims.Claims) != 6 {
		t.Fatalf("claimed %d, %v", len(claims.Claims), err)
	}
	known := 0
	if err := other.View(bg, func(tx store.Tx) error {
		for _, c := range claims.Claims {
			e, err := tx.Event(c.Delivery.EventID)
			if err != nil {
				return err
			}
			if !bytes.Equal(c.Body, e.Body) || len(c.Body) == 0 {
				t.Errorf("%s has %q and is claimed with %q", e.ID, e.Body, c.Body)
			}
			if _, is := one.recent.record(e.ID); is {
				known++
			}
		}
		return nil
	}); err != nil || known != 3 {
		t.Errorf("the process knows %d of the 3 that it added, %v", known, err)
	}
}

// Of records that are added without end, the last ones are known, and not more than two
// generations.
func TestRecentIsBounded(t *testing.T) {
	var r recent
	const size, count = 1 << 20, 50
	for i := range count {
		id := fmt.Sprint("evt_", i)
		r.add(map[string]entry{id: {row: row{[]byte(id), make([]byte, size)}}, "gone": {}})
		if _, known := r.record(id); !known {
			t.Fatalf("%s is not known", id)
		}
	}
	known := 0
	for i := range count {
		if _, is := r.record(fmt.Sprint("evt_", i)); is {
			known++
		}
	}
	if most := 2 * maxRecent / size; known < most/2-1 || known > most {
		t.Errorf("%d of %d are known; %d at most", known, count, most)
	}
	if _, known := r.record("gone"); known {
		t.Error("one that was removed is known")
	}
}
