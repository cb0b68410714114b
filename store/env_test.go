package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/store"
	"teamdata/store/boltstore"
	"teamdata/store/seal"
	"teamdata/store/storetest"
)

// The rules are tested on the engine that people use, on a file of each test's
// own: what is tested here holds for any engine that passes storetest.

const (
	acme  = "org_acme"
	other = "org_other"
	ada   = "usr_ada"
	bob   = "usr_bob"
	eve   = "usr_eve"

	// known is the secret of the session ses_1 and the sign-in link sil_1 that
	// storetest.Fill makes.
	known = "known"
	// many are more than two chunks of long work.
	many = 1203
	day  = 24 * time.Hour
)

// Extremes of what a record may hold.
var (
	longID   = strings.Repeat("Az09_-", 10) + "last"
	unicode  = "\x00\x1f\"\\/<&>\u2028\x7f é 絵 🚀 \U0010FFFF"
	longText = strings.Repeat("🚀", 200)
	firstMs  = time.UnixMilli(0).UTC()
	lastMs   = store.MaxTime
	someTime = time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)
	epoch    = time.Date(2026, 10, 6, 12, 0, 0, 0, time.UTC) // when each test begins
)

var errFailing = errors.New("this transaction is to fail")

// subject is a store in a temporary file, whose contents are checked when the
// test is done.
type subject struct{ *storetest.Subject }

// onBoth runs a test on a file that seals secrets, and on a plain one, too, if it made
// secrets besides those that storetest.Fill and Seed write: for any other the files differ
// in nothing that a rule touches.
func onBoth(t *testing.T, test func(*subject)) {
	fill.once.Do(func() {
		fill.sealed = noting(t)
		storetest.New(t, opener(fill.sealed)).Write(storetest.Fill)
	})
	noted := noting(t)
	t.Run("sealed", func(t *testing.T) { test(&subject{storetest.New(t, opener(noted))}) })
	for secret := range noted.sealed {
		if !fill.sealed.sealed[secret] {
			t.Run("plain", func(t *testing.T) { test(&subject{storetest.New(t, opener(nil))}) })
			return
		}
	}
}

// fill are the secrets that storetest.Fill writes, which are those of Seed, too.
var fill struct {
	once   sync.Once
	sealed *noted
}

// noted is a key that notes what it sealed.
type noted struct {
	boltstore.Sealer
	mu     sync.Mutex
	sealed map[string]bool
}

func noting(t *testing.T) *noted { return &noted{Sealer: sealKey(t), sealed: map[string]bool{}} }

func (n *noted) Seal(plain, place []byte) []byte {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sealed[string(plain)] = true
	return n.Sealer.Seal(plain, place)
}

func sealKey(t *testing.T) *seal.Key {
	t.Helper()
	key, err := seal.ReadKeyFile(kit.SealKey(t, t.TempDir()))
	kit.Must(t, err)
	return key
}

func opener(sealer boltstore.Sealer) storetest.Open {
	return func(t testing.TB, path string, now func() time.Time) store.Store {
		if _, err := os.Stat(path); err != nil { // the first time of some
			t.Cleanup(func() { // after the test has closed the store
				if err := boltstore.Check(path, func(fault string) { t.Error(fault) }); err != nil {
					t.Error(err)
				}
			})
		}
		s, err := boltstore.Open(path, boltstore.Options{Now: now, NoSync: true, MapSize: 64 << 20, Sealer: sealer})
		kit.Must(t, err)
		return s
	}
}

// statesAt holds deliveries to how people see them.
func (s *subject) statesAt(ids []string, want ...store.DeliveryState) {
	s.Helper()
	e := s.Endpoint("whe_1")
	for i, id := range ids {
		d := s.delivery(id)
		s.Equal(fmt.Sprintf("state of delivery %d", i), d.StateAt(&e), want[i])
	}
}

// delivery is what the store holds of a delivery.
func (s *subject) delivery(id string) (d store.Delivery) {
	s.Helper()
	s.Read(func(tx store.Tx) (err error) {
		d, err = tx.Delivery(id)
		return err
	})
	return d
}

// isThere reports whether there is a delivery of that id.
func (s *subject) isThere(id string) bool {
	s.Helper()
	var err error
	s.Read(func(tx store.Tx) error {
		_, err = tx.Delivery(id)
		return nil
	})
	return err == nil
}

// newAudit runs something and returns what it added to acme's audit log, a JSON
// item behind another.
func (s *subject) newAudit(do func()) string {
	s.Helper()
	before := len(s.AuditLog(acme))
	do()
	return s.AuditLog(acme)[before:]
}

// sendTests sends n test events to an endpoint of acme, and returns the ids of
// the deliveries.
func (s *subject) sendTests(endpointID string, n int) (ids []string) {
	s.Helper()
	s.Write(func(tx store.Tx) error {
		ids = nil
		for range n {
			d, err := store.SendTest(tx, acme, endpointID)
			if err != nil {
				return err
			}
			ids = append(ids, d.ID)
		}
		return nil
	})
	return ids
}

// try records an attempt that began at a time and took a second, with the
// default schedule. Any status but 200 is a failure.
func (s *subject) try(id string, started time.Time, status int) (disabled bool) {
	s.Helper()
	s.Write(func(tx store.Tx) (err error) {
		disabled, err = attempted(tx, id, started, status, store.DefaultRetrySchedule)
		return err
	})
	return disabled
}

// failAll makes all attempts of a delivery fail, each when it is due.
func (s *subject) failAll(id string) (disabled bool) {
	s.Helper()
	for !s.Failed() {
		disabled = s.try(id, s.Clock.Now(), 500)
		d := s.delivery(id)
		if !d.State.Waiting() {
			return disabled
		}
		s.Equal("disabled before the last attempt", disabled, false)
		s.Clock.Move(d.DueAt.Sub(s.Clock.Now()))
	}
	return disabled
}

// refused holds a rule to an error, and to changing nothing: when its transaction
// ends with it, and when that goes on.
func (s *subject) refused(what string, want store.Code, rule func(store.Tx) error) {
	s.Helper()
	before := s.Dump()
	s.Code(what, s.Update(context.Background(), store.All, rule), want)
	s.Same("after "+what, s.Dump(), before)
	s.Write(func(tx store.Tx) error {
		s.Code(what, rule(tx), want)
		return nil
	})
	s.Same("after "+what+", going on", s.Dump(), before)
}

// eventIsThere reports whether there is the event of a delivery.
func (s *subject) eventIsThere(d store.Delivery) bool {
	s.Helper()
	var err error
	s.Read(func(tx store.Tx) error {
		_, err = tx.Event(d.EventID)
		return nil
	})
	return err == nil
}

// attemptMany records attempts of deliveries in one transaction; they fail but for
// what is acknowledged. The time of each is its index's.
func (s *subject) attemptMany(ids []string, status int, schedule []time.Duration, at func(i int) time.Time) {
	s.Helper()
	s.Write(func(tx store.Tx) error {
		for i, id := range ids {
			if _, err := attempted(tx, id, at(i), status, schedule); err != nil {
				return err
			}
		}
		return nil
	})
}

// shows holds a text to some parts.
func (s *subject) shows(what, text string, parts ...string) {
	s.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			s.Errorf("%s is %s, and lacks %s", what, text, part)
		}
	}
}

// interrupted is a store in which something happens after each Update.
type interrupted struct {
	store.Store
	then func()
}

func (i interrupted) Update(ctx context.Context, scope store.Scope, fn func(store.Tx) error) error {
	err := i.Store.Update(ctx, scope, fn)
	i.then()
	return err
}

// effects are what a rule did besides its change: the actions that it added to
// acme's audit log, and the events that it sent to endpoint 1.
type effects struct {
	actions []string
	events  []sent
}

// sent is an event as a receiver gets it.
type sent struct {
	Type string
	Data map[string]any
}

// after runs a rule in an Update of its own and returns its effects.
func (s *subject) after(rule func(store.Tx) error) (e effects) {
	s.Helper()
	before := len(actions(s.AuditLog(acme)))
	s.Write(rule)
	e.actions = actions(s.AuditLog(acme))[before:]
	claims, err := s.Claim(context.Background(), 1, s.Clock.Now(), 1000)
	s.Code("claim", err, "")
	for _, c := range claims.Claims {
		e.events = append(e.events, s.sent(c))
	}
	return e
}

// sent reads the body of a delivery, and holds it to what the store knows of
// its event.
func (s *subject) sent(c store.Claim) sent {
	s.Helper()
	var body struct {
		Type, Timestamp string
		Data            map[string]any
	}
	if err := json.Unmarshal(c.Body, &body); err != nil {
		s.Fatalf("body %q: %v", c.Body, err)
	}
	s.Read(func(tx store.Tx) error {
		event, err := tx.Event(c.Delivery.EventID)
		s.Equal("event's body", string(event.Body), string(c.Body))
		s.Equal("event's type", body.Type, event.Type)
		s.Equal("event's time", body.Timestamp, store.FormatTime(event.CreatedAt))
		d, errDelivery := tx.Delivery(c.Delivery.ID)
		s.Equal("delivery", d, c.Delivery)
		s.Equal("delivery's state", fmt.Sprint(d.State, d.Attempts, d.DueAt), fmt.Sprint(store.StatePending, 0, event.CreatedAt))
		return errors.Join(err, errDelivery)
	})
	return sent{body.Type, body.Data}
}

// one is the effect of most rules: an audit entry, and an event.
func one(action string, events ...sent) effects { return effects{[]string{action}, events} }

// entries are an org's audit log, each entry as "action target".
func (s *subject) entries(org string) (list []string) {
	s.Helper()
	var entries []struct{ ActorID, Action, TargetID string }
	if err := json.Unmarshal([]byte("["+s.AuditLog(org)+"]"), &entries); err != nil {
		s.Fatalf("audit log: %v", err)
	}
	for _, e := range entries {
		list = append(list, e.Action+" "+e.TargetID)
	}
	return list
}

// does runs a rule and holds it to its effects in acme, where entries are shown
// as "action target", and to leaving the other org as it is.
func (s *subject) does(what string, rule func(store.Tx) error, want effects) {
	s.Helper()
	others, before := s.DumpOrg(other), len(s.entries(acme))
	got := s.after(rule)
	got.actions = s.entries(acme)[before:]
	s.Equal(what, got, want)
	s.Same("the other org after "+what, s.DumpOrg(other), others)
}

// changesNothing runs a rule that finds all as it is to be.
func (s *subject) changesNothing(what string, rule func(store.Tx) error) {
	s.Helper()
	before := s.Dump()
	s.Write(rule)
	s.Same(what, s.Dump(), before)
}

// claimAll takes what is due of endpoint 1, so that effects show what follows.
func (s *subject) claimAll() {
	s.Helper()
	s.after(func(store.Tx) error { return nil })
}

// tooLong are texts of so many characters and one more.
func tooLong(characters int) string { return strings.Repeat("é", characters+1) }

// actions are the actions in a log's JSON.
func actions(items string) (list []string) {
	for _, rest := range strings.Split(items, `"action":"`)[1:] {
		action, _, _ := strings.Cut(rest, `"`)
		list = append(list, action)
	}
	return list
}

// addAudit appends an entry to acme's audit log.
func addAudit(tx store.Tx, action string) error {
	_, err := store.AppendAudit(tx, store.AuditEntry{OrgID: acme, Action: action})
	return err
}

func deliveryIDs(claims store.Claims) (ids []string) {
	for _, c := range claims.Claims {
		ids = append(ids, c.Delivery.ID)
	}
	return ids
}

func newEndpoint(orgID, id string) store.Endpoint {
	return store.Endpoint{
		OrgID: orgID, ID: id, URL: "https://example.com/" + id, Events: store.BuiltInEventTypes[:7],
		Secret: "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
	}
}

// second drops a rule's result.
func second[T any](_ T, err error) error { return err }

// upload is a rule that sends an event.
func upload(tx store.Tx) error {
	_, err := store.UploadFile(tx, ada, store.File{OrgID: acme, Name: "a", ContentType: "b"})
	return err
}

// pair is a key of two parts, the first mostly an org.
type pair struct{ a, b string }

// direct is a store that runs everything on one transaction.
type direct struct {
	store.Store
	tx store.Tx
}

func (d direct) View(_ context.Context, fn func(store.Tx) error) error { return fn(d.tx) }

func (d direct) Update(_ context.Context, _ store.Scope, fn func(store.Tx) error) error {
	return fn(d.tx)
}

func (s *subject) sweep(keep time.Duration) {
	s.Helper()
	s.Code("sweeping", store.Sweep(context.Background(), s, store.Retention{Finished: keep, Held: store.DefaultHeldRetention}), "")
}

// sweepHeld drops what was held for longer than is kept.
func (s *subject) sweepHeld(keep time.Duration) {
	s.Helper()
	s.Code("sweeping", store.Sweep(context.Background(), s, store.Retention{Finished: 1000 * day, Held: keep}), "")
}

// Endpoint is what the store holds of an endpoint of acme.
func (s *subject) Endpoint(id string) (e store.Endpoint) {
	s.Helper()
	s.Read(func(tx store.Tx) (err error) {
		e, err = tx.Endpoint(acme, id)
		return err
	})
	return e
}

// Mails are all that wait, oldest first.
func (s *subject) Mails() (mails []store.Mail) {
	s.Helper()
	s.Read(func(tx store.Tx) (err error) {
		mails, err = tx.Mails("", 1000)
		return err
	})
	return mails
}

// Listed are the ids in one of an endpoint's lists, in its order.
func (s *subject) Listed(endpoint uint64, list store.DeliveryList) (ids []string) {
	s.Helper()
	s.Read(func(tx store.Tx) error {
		page, _, err := tx.DeliveryPage(endpoint, list, store.Cursor{}, 10_000)
		for _, d := range page {
			ids = append(ids, d.ID)
		}
		return err
	})
	return ids
}

// Account is what the store holds of an account.
func (s *subject) Account(user string) (a store.Account) {
	s.Helper()
	s.Read(func(tx store.Tx) (err error) {
		a, err = tx.Account(user)
		return err
	})
	return a
}

// Managers are the user ids of acme's managers, with their roles.
func (s *subject) Managers() (list []string) {
	s.Helper()
	s.Read(func(tx store.Tx) error {
		managers, err := tx.Managers(acme)
		for _, m := range managers {
			whole, err := tx.Member(acme, m.UserID)
			s.Equal("a manager", m, whole)
			s.Code("a manager", err, "")
			list = append(list, m.UserID+" "+m.Role)
		}
		return err
	})
	return list
}

// DumpOrg shows all that there is of an org.
func (s *subject) DumpOrg(org string) string {
	s.Helper()
	var of []string
	for line := range strings.Lines(s.DumpAll(storetest.Names{"org": {org}, "record": {"one", "two", "new"}})) {
		if strings.Contains(line, org) {
			of = append(of, line)
		}
	}
	return strings.Join(of, "")
}
