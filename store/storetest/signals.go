package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"teamdata/store"
)

// Signals takes random steps in an org whose endpoints are disabled, fail for hours, recover
// and are removed, and whose keys expire and are revoked, over restarts and failed
// transactions. Each endpoint has to get each signal that it selects, once, and no other. What
// is to come is known from what happened alone: of the store it reads only the delivery that an
// attempt is of.
func Signals(t *testing.T, open Open, draws *rand.Rand, steps int) {
	w := &signalWorld{
		Subject: New(t, open), Rand: draws, endpoints: map[string]*signalEndpoint{}, keys: map[string]*signalKey{},
		seen: map[string]bool{}, due: map[string]int{}, came: map[string]int{}, told: map[string]bool{}, on: true,
	}
	w.Write(func(tx store.Tx) error {
		_, err := seed(tx, "ada@example.com")
		return errors.Join(err, store.RemoveEndpoint(tx, "", acme, "whe_1"))
	})
	w.createEndpoint("whe_log", "teamdata.*", true) // which is left alone
	for range steps {
		if w.step++; w.Failed() {
			break
		}
		w.Clock.Move(time.Duration(1+w.IntN(20_000)) * time.Millisecond)
		w.takeStep()
		if w.step%50 == 0 {
			w.compare()
		}
	}
	w.compare()
	total := map[string]int{}
	for line, n := range w.came {
		_, line, _ = strings.Cut(line, " ")
		name, _, _ := strings.Cut(line, " ")
		total[name] += n
	}
	for _, name := range append(store.Signals, store.MailAPIKeyExpiring) {
		if total[name] == 0 && steps >= 1000 {
			t.Errorf("no %s came", name)
		}
	}
	t.Logf("%d steps: %v", w.step, total)
}

// signalWorld is the org, and what came of the steps.
type signalWorld struct {
	*Subject
	*rand.Rand
	step      int
	endpoints map[string]*signalEndpoint // those that exist
	keys      map[string]*signalKey
	gone      []string // ids of deliveries of removed endpoints
	on        bool     // the org has webhooks

	seen      map[string]bool // ids of the deliveries and mails that were counted
	due, came map[string]int  // how often a signal is to come to an endpoint, and came: "whe_log teamdata.apiKey.ended key_1 revoked"
	told      map[string]bool // certificates
}

// signalEndpoint is what the signals depend on of an endpoint.
type signalEndpoint struct {
	store.Endpoint
	disabled  bool
	reenabled bool        // since it last acknowledged
	failures  []time.Time // since then, of what is no signal
	acked     time.Time   // last, signals too
}

type signalKey struct {
	id               string
	expires, revoked time.Time
	only             string // the endpoint that it may pull from; empty: all
	told             int    // days before its end that were told; 0: its end
}

// selectsSignal is the rule, said once more: by name or by a group, and never by *.
func (e *signalEndpoint) selectsSignal(name string) bool {
	return slices.ContainsFunc(e.Events, func(selection string) bool {
		group, is := strings.CutSuffix(selection, "*")
		return selection == name || is && group != "" && strings.HasPrefix(name, group)
	})
}

// expect says that a signal is to come, to all but the endpoint that it is about while that is
// disabled.
func (w *signalWorld) expect(about *signalEndpoint, name string, detail ...any) {
	for id, e := range w.endpoints {
		if w.on && e.selectsSignal(name) && !(e == about && e.disabled) {
			w.due[fmt.Sprint(id, " ", name, " ", fmt.Sprint(detail...))]++
		}
	}
}

var errRolledBack = errors.New("the transaction is to fail")

// happen runs a rule, and reports whether it was committed. At times the transaction fails after
// it, and nothing is to come of it.
func (w *signalWorld) happen(rule func(tx store.Tx) error) bool {
	fails := w.IntN(20) == 0
	err := w.Update(context.Background(), store.InOrg(acme), func(tx store.Tx) error {
		err := rule(tx)
		if err == nil && fails {
			err = errRolledBack
		}
		return err
	})
	if err != nil && err != errRolledBack {
		w.Errorf("step %d: %v", w.step, err)
	}
	return err == nil
}

func (w *signalWorld) takeStep() {
	switch n := w.IntN(100); {
	case n < 12:
		w.emitEvent()
	case n < 50:
		w.attempt()
	case n < 58:
		w.failForGood()
	case n < 66:
		w.pull()
	case n < 71:
		w.switchEndpoint()
	case n < 74:
		w.replay()
	case n < 76:
		w.removeEndpoint()
	case n < 79:
		w.createEndpoint(fmt.Sprint("whe_", w.step), w.selection(), w.IntN(4) == 0)
	case n < 83:
		w.createKey()
	case n < 85:
		w.revokeKey()
	case n < 90:
		w.sweep()
	case n < 94:
		w.Clock.Move(time.Duration(w.IntN(180)) * time.Minute)
	case n < 96:
		w.Clock.Move(time.Duration(w.IntN(100)) * time.Hour)
	case n == 96:
		w.ofOperator()
	case n == 97:
		w.example()
	case n == 98:
		w.switchWebhooks()
	case w.IntN(4) == 0:
		w.Reopen()
	}
}

func (w *signalWorld) selection() string {
	return drawOne(w.Rand, []string{"*", "teamdata.*", "* teamdata.*", "* teamdata.delivery.failed", "member.added teamdata.endpoint.*", "teamdata.apiKey.ended", "member.*", "* teamdata.endpoint.recovered"})
}

func drawOne[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// endpointThat is an endpoint that may be taken; nil: there is none.
func (w *signalWorld) endpointThat(may func(*signalEndpoint) bool) *signalEndpoint {
	var found []*signalEndpoint
	for _, id := range slices.Sorted(maps.Keys(w.endpoints)) {
		if e := w.endpoints[id]; id != "whe_log" && may(e) {
			found = append(found, e)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return drawOne(w.Rand, found)
}

func (w *signalWorld) createEndpoint(id, selections string, pulled bool) {
	if len(w.endpoints) > 8 {
		return
	}
	e := store.Endpoint{ID: id, OrgID: acme, URL: "https://example.com/" + id, Events: strings.Fields(selections)}
	if pulled {
		e.URL = ""
	}
	if w.happen(func(tx store.Tx) (err error) { e, err = store.CreateEndpoint(tx, ada, e); return err }) {
		w.endpoints[id] = &signalEndpoint{Endpoint: e}
	} else if id == "whe_log" {
		e.Number = 0
		w.createEndpoint(id, selections, pulled)
	}
}

func (w *signalWorld) removeEndpoint() {
	e := w.endpointThat(func(*signalEndpoint) bool { return true })
	if e == nil {
		return
	}
	w.compare() // its deliveries go with it
	left := w.waiting(e)
	if !w.happen(func(tx store.Tx) error { return store.RemoveEndpoint(tx, ada, acme, e.ID) }) {
		return
	}
	delete(w.endpoints, e.ID)
	for _, k := range w.keys {
		if e.Pull() && k.only == e.ID && k.revoked.IsZero() {
			w.ended(k)
		}
	}
	if len(left) > 0 && !e.Pull() {
		w.gone = append(w.gone, left[0].ID)
	}
}

func (w *signalWorld) emitEvent() {
	name := drawOne(w.Rand, []string{store.EventMemberAdded, store.EventFileUploaded})
	w.happen(func(tx store.Tx) error { return second(store.Emit(tx, acme, name, []byte("{}"))) })
}

// example sends an example of a signal, which is a signal in all but what it says.
func (w *signalWorld) example() {
	if e := w.endpointThat(func(e *signalEndpoint) bool { return !e.disabled }); e != nil {
		w.happen(func(tx store.Tx) error {
			return second(store.SendExample(tx, acme, e.ID, drawOne(w.Rand, store.Signals), []byte("{}")))
		})
	}
}

func (w *signalWorld) switchWebhooks() {
	on := !w.on || w.IntN(2) == 0
	status := map[bool]string{true: "active", false: "canceled"}[on]
	if w.happen(func(tx store.Tx) error {
		return second(store.ChangeSubscription(tx, "", acme, store.Subscription{Plan: "business", Status: status}))
	}) {
		w.on = on
	}
}

func (w *signalWorld) list(e *signalEndpoint, list store.DeliveryList) (all []store.Delivery) {
	w.Read(func(tx store.Tx) (err error) {
		all, _, err = tx.DeliveryPage(e.Number, list, store.Cursor{}, unlimited)
		return err
	})
	return all
}

func (w *signalWorld) waiting(e *signalEndpoint) []store.Delivery {
	return w.list(e, store.ListWaiting)
}

// attempt records what came of sending a delivery, often one that is due first.
func (w *signalWorld) attempt() {
	if len(w.gone) > 0 && w.IntN(10) == 0 { // one that was in flight when its endpoint was removed
		id := w.gone[0]
		w.gone = w.gone[1:]
		a := store.Attempt{StartedAt: w.Clock.Now(), EndedAt: w.Clock.Now(), Status: 500, Reason: "gone"}
		if err := w.Update(context.Background(), store.InOrg(acme), func(tx store.Tx) error { return second(store.RecordAttempt(tx, id, a, nil)) }); err != nil && !store.IsNotFound(err) {
			w.Errorf("step %d: %v", w.step, err)
		}
		return
	}
	e := w.endpointThat(func(e *signalEndpoint) bool { return !e.Pull() })
	if e == nil {
		return
	}
	all := w.waiting(e)
	if len(all) == 0 {
		return
	}
	good := 4 // in 10; some endpoints are worse for a while
	if (w.step/500+len(e.ID))%3 == 0 {
		good = 0
	}
	w.record(e, all[w.IntN(min(len(all), 3))], w.IntN(10) < good)
}

// failForGood has a delivery fail until nothing follows, over hours.
func (w *signalWorld) failForGood() {
	e := w.endpointThat(func(e *signalEndpoint) bool { return !e.Pull() })
	if e == nil {
		return
	}
	all := w.waiting(e)
	if len(all) == 0 {
		return
	}
	id := all[0].ID
	for range 2 * len(store.DefaultRetrySchedule) {
		var d store.Delivery
		w.Read(func(tx store.Tx) (err error) { d, err = tx.Delivery(id); return err })
		if !d.State.Waiting() || w.Failed() {
			return
		}
		w.Clock.Move(max(time.Second, d.DueAt.Sub(w.Clock.Now())))
		w.record(e, d, false)
	}
}

// record records an attempt of a delivery, as it was before, and says what is to come of it.
func (w *signalWorld) record(e *signalEndpoint, d store.Delivery, acked bool) {
	now := w.Clock.Now()
	a := store.Attempt{StartedAt: now, EndedAt: now, Status: 200}
	if !acked {
		a.Status, a.Reason = 503, "the receiver answered 503"
	}
	if !w.happen(func(tx store.Tx) error { return second(store.RecordAttempt(tx, d.ID, a, store.DefaultRetrySchedule)) }) {
		return
	}
	w.outcome(e, &d, acked)
	if acked || d.Attempts < len(store.DefaultRetrySchedule) {
		return
	}
	first := d.FirstAttemptAt
	if first.IsZero() {
		first = now
	}
	if !e.disabled && e.acked.Before(first) {
		e.disabled = true
		w.expect(e, store.EventEndpointDisabled, e.ID, " by ")
	}
	w.failed(e, &d)
}

func (w *signalWorld) failed(e *signalEndpoint, d *store.Delivery) {
	if !strings.HasPrefix(d.EventType, "teamdata.") {
		w.expect(e, store.EventDeliveryFailed, d.ID, " ", d.EventType, " of ", e.ID)
	}
}

// outcome says what is to come of an attempt, of one that is sent or pulled.
func (w *signalWorld) outcome(e *signalEndpoint, d *store.Delivery, acked bool) {
	now, signal := w.Clock.Now(), strings.HasPrefix(d.EventType, "teamdata.")
	if acked {
		e.acked = now
	}
	switch {
	case signal || acked && e.disabled:
	case !acked:
		e.failures = append(e.failures, now)
	default:
		if e.reenabled || len(e.failures) > 0 && now.Sub(e.failures[0]) >= time.Hour {
			w.expect(e, store.EventEndpointRecovered, e.ID, " ", d.ID)
		}
		e.reenabled, e.failures = false, nil
	}
}

// pull pulls one delivery, and acknowledges it or gives it back.
func (w *signalWorld) pull() {
	e := w.endpointThat(func(e *signalEndpoint) bool { return e.Pull() && !e.disabled })
	if e == nil {
		return
	}
	key := store.APIKey{ID: "key_any", OrgID: acme, Scopes: store.ScopeReceive}
	var claims store.Claims
	if !w.happen(func(tx store.Tx) (err error) {
		claims, err = store.Pull(tx, e.ID, store.PullRequest{Key: &key, Limit: 1, Lease: time.Minute})
		return err
	}) || len(claims.Claims) == 0 {
		return
	}
	d := claims.Claims[0].Delivery
	acked := w.IntN(3) > 0
	w.Clock.Move(time.Second)
	schedule := store.DefaultRetrySchedule[:1]
	if !w.happen(func(tx store.Tx) error {
		if acked {
			return store.AckDeliveries(tx, &key, e.ID, []string{d.ID})
		}
		return store.NackDeliveries(tx, &key, e.ID, []store.LeaseOf{{DeliveryID: d.ID, Lease: d.Lease().ID}}, "not now", nil, schedule)
	}) {
		return
	}
	w.outcome(e, &d, acked)
	if !acked && d.Attempts >= len(schedule) {
		w.failed(e, &d)
	}
}

func (w *signalWorld) replay() {
	e := w.endpointThat(func(*signalEndpoint) bool { return true })
	if e == nil {
		return
	}
	if all := append(w.list(e, store.ListFailed), w.list(e, store.ListAcknowledged)...); len(all) > 0 {
		w.happen(func(tx store.Tx) error { return second(store.Replay(tx, ada, acme, drawOne(w.Rand, all).ID)) })
	}
}

func (w *signalWorld) switchEndpoint() {
	e := w.endpointThat(func(e *signalEndpoint) bool { return e.disabled || w.IntN(3) == 0 })
	switch {
	case e == nil:
	case e.disabled:
		if w.happen(func(tx store.Tx) error { return store.EnableEndpoint(tx, ada, acme, e.ID) }) {
			e.disabled, e.reenabled = false, true
		}
	case w.happen(func(tx store.Tx) error { return store.DisableEndpoint(tx, ada, acme, e.ID) }):
		e.disabled = true
		w.expect(e, store.EventEndpointDisabled, e.ID, " by ", ada)
	}
}

func (w *signalWorld) createKey() {
	k := store.APIKey{OrgID: acme, Name: "k", Scopes: store.ScopeReceive, CreatedBy: ada}
	if days := []int{0, 1, 2, 14, 15, 30}[w.IntN(6)]; days > 0 {
		k.ExpiresAt = w.Clock.Now().Add(time.Duration(days) * 24 * time.Hour).Add(time.Duration(w.IntN(3)-1) * time.Millisecond)
	}
	if e := w.endpointThat(func(e *signalEndpoint) bool { return e.Pull() && w.IntN(2) == 0 }); e != nil {
		k.Endpoints = []string{e.ID}
	}
	if !w.happen(func(tx store.Tx) (err error) { k, _, err = store.CreateKey(tx, ada, k); return err }) {
		return
	}
	key := &signalKey{id: k.ID, expires: k.ExpiresAt}
	if len(k.Endpoints) > 0 {
		key.only = k.Endpoints[0]
	}
	key.told = key.stage(w.Clock.Now())
	w.keys[k.ID] = key
}

// stage is how many days before the end of a key were reached last, more than any at first.
func (k *signalKey) stage(now time.Time) int {
	for _, days := range []int{0, 1, 14} {
		if !k.expires.IsZero() && !now.Before(k.expires.Add(-time.Duration(days)*24*time.Hour)) {
			return days
		}
	}
	return 1000
}

// ended says that a key is revoked.
func (w *signalWorld) ended(k *signalKey) {
	k.revoked = w.Clock.Now()
	how := "revoked"
	if k.stage(w.Clock.Now()) == 0 {
		how = "expired"
	}
	if k.told > 0 {
		w.expect(nil, store.EventAPIKeyEnded, k.id, " ", how)
	}
	k.told = 0
}

func (w *signalWorld) revokeKey() {
	var ids []string
	for _, id := range slices.Sorted(maps.Keys(w.keys)) {
		if w.keys[id].revoked.IsZero() {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return
	}
	k := w.keys[drawOne(w.Rand, ids)]
	if w.happen(func(tx store.Tx) error { return store.RevokeKey(tx, ada, acme, k.id) }) {
		w.ended(k)
	}
}

// sweep does the upkeep, which tells of keys, and at times does so twice.
func (w *signalWorld) sweep() {
	w.compare() // what it drops
	for range 1 + w.IntN(2) {
		if err := store.Sweep(context.Background(), w.Store, store.Retention{Finished: 10 * 24 * time.Hour, Held: 20 * 24 * time.Hour}); err != nil {
			w.Errorf("step %d: sweep: %v", w.step, err)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(w.keys)) {
		k := w.keys[id]
		stage := k.stage(w.Clock.Now())
		if !k.revoked.IsZero() || stage >= k.told {
			continue
		}
		if k.told = stage; stage == 0 {
			w.expect(nil, store.EventAPIKeyEnded, k.id, " expired")
			continue
		}
		left := k.expires.Sub(w.Clock.Now())
		days := 1
		for left > time.Duration(days)*24*time.Hour {
			days++
		}
		w.expect(nil, store.EventAPIKeyExpiring, k.id, " ", days)
		w.due[fmt.Sprint("mail ", store.MailAPIKeyExpiring, " ", k.id, " ", days)]++
	}
	w.Read(func(tx store.Tx) error {
		mails, err := tx.Mails("", unlimited)
		for _, m := range mails {
			if m.Template == store.MailAPIKeyExpiring && !w.seen[m.ID] {
				w.seen[m.ID] = true
				w.came[fmt.Sprint("mail ", m.Template, " ", m.Values["keyId"], " ", m.Values["days"])]++
			}
		}
		return err
	})
}

// ofOperator is what the server itself has to tell.
func (w *signalWorld) ofOperator() {
	if w.IntN(2) == 0 {
		if w.happen(func(tx store.Tx) error { return store.SignalBackupFailed(tx, acme, fmt.Sprint(w.step)) }) {
			w.expect(nil, store.EventBackupFailed, w.step)
		}
		return
	}
	c := store.CertificateStatus{Name: drawOne(w.Rand, []string{"a.example", "b.example"}), NotAfter: epoch.AddDate(1+w.IntN(2), 0, w.step/500)}
	detail := fmt.Sprint(c.Name, " ", store.FormatTime(c.NotAfter))
	w.Write(func(tx store.Tx) error { return store.SignalCertificateExpiring(tx, acme, c) })
	if !w.told[detail] {
		w.expect(nil, store.EventCertificateExpiring, detail)
	}
	w.told[detail] = true
}

// compare holds what came since it was called last to what was to come.
func (w *signalWorld) compare() {
	w.Helper()
	for id, e := range w.endpoints {
		for _, list := range []store.DeliveryList{store.ListWaiting, store.ListLeased, store.ListAcknowledged, store.ListFailed} {
			for _, d := range w.list(e, list) {
				if !w.seen[d.ID] && strings.HasPrefix(d.EventType, "teamdata.") {
					w.count(id, d)
				}
				w.seen[d.ID] = true
			}
		}
	}
	for line := range w.due {
		if w.came[line] != w.due[line] {
			w.Errorf("step %d: %s: came %d times, not %d", w.step, line, w.came[line], w.due[line])
		}
	}
	for line, n := range w.came {
		if w.due[line] == 0 {
			w.Errorf("step %d: %s: came %d times, and should not", w.step, line, n)
		}
	}
}

// count counts a signal that came to an endpoint, unless it is an example.
func (w *signalWorld) count(endpoint string, d store.Delivery) {
	var event store.Event
	w.Read(func(tx store.Tx) (err error) { event, err = tx.Event(d.EventID); return err })
	var body struct {
		Test bool
		Data struct {
			EndpointID, DeliveryID, EventType, DisabledBy, KeyID, How, Reason, Certificate, ExpiresAt string
			Days                                                                                      int
		}
	}
	if err := json.Unmarshal(event.Body, &body); err != nil {
		w.Errorf("%s: %v", event.Body, err)
	}
	if body.Test {
		return
	}
	x, detail := body.Data, ""
	switch d.EventType {
	case store.EventEndpointDisabled:
		detail = x.EndpointID + " by " + x.DisabledBy
	case store.EventEndpointRecovered:
		detail = x.EndpointID + " " + x.DeliveryID
	case store.EventDeliveryFailed:
		detail = x.DeliveryID + " " + x.EventType + " of " + x.EndpointID
	case store.EventAPIKeyExpiring:
		detail = fmt.Sprint(x.KeyID, " ", x.Days)
	case store.EventAPIKeyEnded:
		detail = x.KeyID + " " + x.How
	case store.EventBackupFailed:
		detail = x.Reason
	case store.EventCertificateExpiring:
		detail = x.Certificate + " " + x.ExpiresAt
	}
	w.came[endpoint+" "+d.EventType+" "+detail]++
}
