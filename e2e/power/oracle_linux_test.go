package power_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"teamdata/app"
	"teamdata/store"
	"teamdata/store/boltstore"
	"teamdata/store/boltstore/boltfile"
)

// moment is what a data file holds of what the load changes.
type moment struct {
	log        []string // the audit log's items
	changes    []loggedChange
	members    []string // ids
	answers    map[string]string
	records    int // of Idempotency-Keys, those of members too
	deliveries map[delivered]store.DeliveryState
}

// readMoment reads a data file, which is sound.
func readMoment(path string, o boltstore.Options, keys []string) (m moment, err error) {
	if m.records, err = countRecords(path); err != nil {
		return m, err
	}
	o.NoSync = true
	s, err := boltstore.Open(path, o)
	if err != nil {
		return m, err
	}
	defer s.Close()
	return m, s.View(context.Background(), func(tx store.Tx) error {
		m = moment{records: m.records, answers: map[string]string{}, deliveries: map[delivered]store.DeliveryState{}}
		if _, err := tx.Org("org_acme"); store.IsNotFound(err) {
			return nil // not filled yet
		}
		return errors.Join(m.readLists(tx), m.readAnswers(tx, keys), m.readDeliveries(tx))
	})
}

func (m *moment) readLists(tx store.Tx) error {
	const all = 1 << 20
	page, err := tx.AuditPage("org_acme", store.Cursor{}, all, []byte{'['})
	if err != nil {
		return err
	}
	var items []json.RawMessage
	if err = json.Unmarshal(append(page.Items, ']'), &items); err == nil {
		err = json.Unmarshal(append(page.Items, ']'), &m.changes)
	}
	for _, item := range items {
		m.log = append(m.log, string(item))
	}
	_, members, merr := tx.ListMembers("org_acme", store.Cursor{}, all)
	for _, one := range members {
		m.members = append(m.members, one.ID)
	}
	return errors.Join(err, merr)
}

func (m *moment) readAnswers(tx store.Tx, keys []string) error {
	for _, key := range keys {
		switch r, err := tx.IdempotencyRecord("org_acme", key); {
		case err == nil:
			m.answers[key] = string(r.Answer.Body)
		case !store.IsNotFound(err):
			return err
		}
	}
	return nil
}

func (m *moment) readDeliveries(tx store.Tx) error {
	for _, endpoint := range loadEndpoints {
		e, err := tx.Endpoint("org_acme", endpoint)
		if err != nil {
			return err
		}
		found, err := tx.LatestDeliveries([]uint64{e.Number}, store.DeliveryLists, store.Cursor{}, 1<<20)
		if err != nil {
			return err
		}
		for _, d := range found {
			event, err := tx.Event(d.EventID)
			if err != nil {
				return err
			}
			of := delivered{endpoint, d.EventType, d.ID}
			var body struct{ Data struct{ MemberID string } }
			if json.Unmarshal(event.Body, &body); body.Data.MemberID != "" {
				of.of = body.Data.MemberID
			}
			m.deliveries[of] = d.State
		}
	}
	return nil
}

// countRecords looks into the file itself, whose layout is docs/format.md.
func countRecords(path string) (n int, err error) {
	return n, viewFile(path, func(tx *bbolt.Tx) error {
		partitions := tx.Bucket([]byte("idempotency"))
		if partitions == nil {
			return nil
		}
		return partitions.ForEachBucket(func(name []byte) error {
			n += partitions.Bucket(name).Stats().KeyN
			return nil
		})
	})
}

func viewFile(path string, fn func(*bbolt.Tx) error) error {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true, Timeout: time.Second})
	if err != nil {
		return err
	}
	defer db.Close()
	return boltfile.GuardPages(func() error { return db.View(fn) })
}

// fingerprint is of all that is in a data file, however it is laid out.
func fingerprint(path string) (sum string, err error) {
	h := sha256.New()
	var bucket func(b *bbolt.Bucket) error
	bucket = func(b *bbolt.Bucket) error {
		return b.ForEach(func(k, v []byte) error {
			fmt.Fprintf(h, "%d %q %q\n", b.Sequence(), k, v)
			if v != nil {
				return nil
			}
			return bucket(b.Bucket(k))
		})
	}
	err = viewFile(path, func(tx *bbolt.Tx) error { return bucket(tx.Cursor().Bucket()) })
	return fmt.Sprintf("%x", h.Sum(nil)), err
}

// sound returns an error for a file that the program finds damaged.
func sound(path string) (err error) {
	var faults []string
	if err := app.Check(context.Background(), path, func(fault string) { faults = append(faults, fault) }); err != nil {
		return err
	}
	if len(faults) > 0 {
		return fmt.Errorf("%d faults, the first: %s", len(faults), faults[0])
	}
	if _, err := boltfile.CompareFree(path); err != nil {
		return fmt.Errorf("page %w", err)
	}
	return nil
}

// holds compares a file with the load: what was acknowledged is there, and what is
// there is there whole. The log of the file is the beginning of what it was in the end.
func (l *load) holds(m moment, end []string, acked, now time.Time) error {
	if len(m.log) > len(end) || !slices.Equal(m.log, end[:len(m.log)]) {
		return fmt.Errorf("the audit log is no beginning of what it came to be")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range l.acks {
		switch {
		case !a.at.Before(acked):
		case a.key != "" && m.answers[a.key] != a.body:
			return fmt.Errorf("%s was answered %s; a replay gets %q", a.key, a.body, m.answers[a.key])
		case a.key == "" && !slices.Contains(m.changes, a.log):
			return fmt.Errorf("%v was acknowledged and is not there", a.log)
		}
	}
	return errors.Join(m.holdsTogether(), l.deliveriesOf(m, now))
}

// holdsTogether compares the members and the records with the log.
func (m *moment) holdsTogether() error {
	var members []string
	if len(m.log) > 0 || len(m.members) > 0 {
		members = []string{"mem_ada"}
	}
	added := 0
	for _, c := range m.changes {
		switch c.Action {
		case store.EventMemberAdded:
			members = append(members, c.TargetID)
			added++
		case store.EventMemberRemoved:
			members = slices.DeleteFunc(members, func(id string) bool { return id == c.TargetID })
		}
	}
	if !slices.Equal(members, m.members) {
		return fmt.Errorf("the members are %v; by the audit log they are %v", m.members, members)
	}
	if m.records != added+len(m.answers) {
		return fmt.Errorf("%d keys are kept, and %d members were added and %d tests made with one", m.records, added, len(m.answers))
	}
	return nil
}

// deliveriesOf compares the deliveries with what they are of. One that is gone, or
// acknowledged, was received.
func (l *load) deliveriesOf(m moment, now time.Time) error {
	want := map[delivered]bool{}
	for _, c := range m.changes {
		for _, endpoint := range loadEndpoints {
			want[delivered{endpoint, c.Action, c.TargetID}] = true // all that the log has are changes of members
		}
	}
	tests := map[string]bool{}
	for _, answer := range m.answers {
		tests[idIn(answer)] = true
	}
	for d, state := range m.deliveries {
		if !want[d] && !tests[d.of] {
			return fmt.Errorf("a delivery of %v, which is not there", d)
		}
		if at, got := l.received[d]; state == store.StateAcknowledged && (!got || at.After(now)) {
			return fmt.Errorf("%v is acknowledged, and was not received", d)
		}
		delete(want, d)
		delete(tests, d.of)
	}
	for d, at := range l.received {
		if at.Add(loadRetention).Before(now) {
			delete(want, d)
			delete(tests, d.of)
		}
	}
	if len(want)+len(tests) > 0 {
		return fmt.Errorf("deliveries that nobody received are gone: %v %v", want, tests)
	}
	return nil
}
