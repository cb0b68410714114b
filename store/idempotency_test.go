package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"teamdata/store"
)

// answers holds what a request came to.
func (s *subject) answers(what string, body string, replayed bool, code store.Code) func(store.Answer, bool, error) {
	return func(a store.Answer, wasReplayed bool, err error) {
		s.Helper()
		s.Code(what, err, code)
		s.Equal(what, []any{string(a.Body), wasReplayed}, []any{body, replayed})
	}
}

// TestDoLong: work of many transactions is done once a key, unless it fails.
func TestDoLong(t *testing.T) { onBoth(t, testDoLong) }

func testDoLong(s *subject) {
	s.Seed()
	bg := context.Background()
	var idempotent store.Idempotency
	times := 0
	work := func() (store.Answer, error) {
		times++
		s.Write(func(tx store.Tx) error { return addAudit(tx, "a part") })
		return store.Answer{Status: 200, Body: fmt.Append(nil, times)}, nil
	}
	fails := func() (store.Answer, error) {
		times++
		return store.Answer{Body: []byte("none")}, errFailing
	}
	s.answers("work that fails", "", false, store.CodeInternal)(idempotent.DoLong(bg, s, store.IdempotencyKey{OrgID: acme, Key: "k"}, onePrint, fails))
	s.answers("work after that", "2", false, "")(idempotent.DoLong(bg, s, store.IdempotencyKey{OrgID: acme, Key: "k"}, onePrint, work))
	s.answers("the same again", "2", true, "")(idempotent.DoLong(bg, s, store.IdempotencyKey{OrgID: acme, Key: "k"}, onePrint, work))
	s.answers("another under that key", "", false, store.CodeIdempotencyMismatch)(idempotent.DoLong(bg, s, store.IdempotencyKey{OrgID: acme, Key: "k"}, anotherPrint, work))
	s.answers("another org's under that key", "3", false, "")(idempotent.DoLong(bg, s, store.IdempotencyKey{OrgID: other, Key: "k"}, anotherPrint, work))
	s.answers("without a key", "4", false, "")(idempotent.DoLong(bg, s, store.IdempotencyKey{OrgID: acme, Key: ""}, onePrint, work))
	s.answers("without a key, again", "5", false, "")(idempotent.DoLong(bg, s, store.IdempotencyKey{OrgID: acme, Key: ""}, onePrint, work))
	s.answers("without a key, failing", "none", false, store.CodeInternal)(idempotent.DoLong(bg, s, store.IdempotencyKey{OrgID: acme, Key: ""}, onePrint, fails))
	s.Reopen()
	idempotent = store.Idempotency{}
	s.answers("after a restart", "2", true, "")(idempotent.DoLong(bg, s, store.IdempotencyKey{OrgID: acme, Key: "k"}, onePrint, work))
	s.answers("by way of Do", "2", true, "")(idempotent.Do(bg, s, store.InOrg(acme), store.IdempotencyKey{OrgID: acme, Key: "k"}, onePrint, func(store.Tx) (store.Answer, error) { return work() }))
	s.whileItRuns()
	s.keepsNothingOfRemoved()
	s.Clock.Move(day - time.Millisecond)
	s.answers("just before it is forgotten", "2", true, "")(idempotent.DoLong(bg, s, store.IdempotencyKey{OrgID: acme, Key: "k"}, onePrint, work))
	s.Clock.Move(2 * time.Millisecond)
	s.answers("once it is", "7", false, "")(idempotent.DoLong(bg, s, store.IdempotencyKey{OrgID: acme, Key: "k"}, anotherPrint, work))
}

// keepsNothingOfRemoved: an answer about an org that was deleted meanwhile is not kept.
func (s *subject) keepsNothingOfRemoved() {
	s.Helper()
	key := store.IdempotencyKey{OrgID: other, Key: "late"}
	deletes := func() (store.Answer, error) {
		s.Write(func(tx store.Tx) error { return store.DeleteOrg(tx, other) })
		return store.Answer{Body: []byte("done")}, nil
	}
	var idempotent store.Idempotency
	s.answers("about an org that is deleted", "done", false, "")(idempotent.DoLong(context.Background(), s, key, onePrint, deletes))
	s.Read(func(tx store.Tx) error {
		keys, _, err := tx.IdempotencyKeys(other, "", 10)
		s.Equal("another of its keys is kept, and not that one", keys, []string{"k"})
		return err
	})
}

// whileItRuns: the same request is refused while it runs, and answered from then
// on. A panic ends it.
func (s *subject) whileItRuns() {
	s.Helper()
	bg := context.Background()
	var idempotent store.Idempotency
	work := func() (store.Answer, error) {
		again := func() (store.Answer, error) { return store.Answer{}, errors.New("ran twice") }
		s.answers("the same meanwhile", "", false, store.CodeConflict)(idempotent.DoLong(bg, s, store.IdempotencyKey{OrgID: acme, Key: "long"}, onePrint, again))
		s.answers("another meanwhile", "", false, store.CodeIdempotencyMismatch)(idempotent.DoLong(bg, s, store.IdempotencyKey{OrgID: acme, Key: "long"}, anotherPrint, again))
		s.answers("another key meanwhile", "", false, store.CodeInternal)(idempotent.DoLong(bg, s, store.IdempotencyKey{OrgID: acme, Key: "short"}, onePrint, again))
		return store.Answer{Body: []byte("long")}, nil
	}
	func() {
		defer func() { s.Equal("a panic comes out", recover() != nil, true) }()
		idempotent.DoLong(bg, s, store.IdempotencyKey{OrgID: acme, Key: "long"}, onePrint, func() (store.Answer, error) { panic("this work is to panic") })
	}()
	s.answers("long work", "long", false, "")(idempotent.DoLong(bg, s, store.IdempotencyKey{OrgID: acme, Key: "long"}, onePrint, work))
	s.answers("the same after it", "long", true, "")(idempotent.DoLong(bg, s, store.IdempotencyKey{OrgID: acme, Key: "long"}, onePrint, work))
}

// TestKeptAnswers: a secret is in the first answer alone, and not in the store.
func TestKeptAnswers(t *testing.T) { onBoth(t, testKeptAnswers) }

func testKeptAnswers(s *subject) {
	s.Seed()
	bg := context.Background()
	var idempotent store.Idempotency
	secret := store.Answer{Status: 201, Body: []byte("secret"), Kept: []byte("no secret")}
	do := func(key string, a store.Answer) (store.Answer, bool, error) {
		return idempotent.Do(bg, s, store.InOrg(acme), store.IdempotencyKey{OrgID: acme, Key: key}, onePrint, func(store.Tx) (store.Answer, error) { return a, nil })
	}
	doLong := func(key string, a store.Answer) (store.Answer, bool, error) {
		return idempotent.DoLong(bg, s, store.IdempotencyKey{OrgID: acme, Key: key}, onePrint, func() (store.Answer, error) { return a, nil })
	}
	for what, do := range map[string]func(key string, a store.Answer) (store.Answer, bool, error){"do": do, "do long": doLong} {
		s.answers("the first answer", "secret", false, "")(do(what, secret))
		s.answers("the second", "no secret", true, "")(do(what, secret))
		s.answers("one without a secret", "x", false, "")(do(what+" plain", store.Answer{Body: []byte("x")}))
		s.answers("its second", "x", true, "")(do(what+" plain", store.Answer{}))
		s.answers("an empty one", "secret", false, "")(do(what+" empty", store.Answer{Body: []byte("secret"), Kept: []byte{}}))
		s.answers("its second", "", true, "")(do(what+" empty", store.Answer{}))
		s.answers("without a key", "secret", false, "")(do("", secret))
		s.Read(func(tx store.Tx) error {
			r, err := tx.IdempotencyRecord(acme, what)
			s.Equal("what is kept", []any{string(r.Answer.Body), r.Answer.Kept == nil, r.Answer.Status}, []any{"no secret", true, 201})
			return err
		})
	}
}

var (
	onePrint     = store.FingerprintOf("POST", "/one", "", nil)
	anotherPrint = store.FingerprintOf("POST", "/another", "", nil)
)

// TestDoLongElsewhere: while another node does long work under a key, it is not done
// here.
func TestDoLongElsewhere(t *testing.T) { onBoth(t, testDoLongElsewhere) }

func testDoLongElsewhere(s *subject) {
	s.Seed()
	var idempotent store.Idempotency
	ran := 0
	work := func() (store.Answer, error) {
		ran++
		return store.Answer{Status: 200, Body: []byte("done")}, nil
	}
	key := store.IdempotencyKey{OrgID: acme, Key: "k"}
	s.answers("meanwhile", "", false, store.CodeConflict)(idempotent.DoLong(s.Context(), elsewhere{s.Store}, key, onePrint, work))
	s.Equal("times done", ran, 0)
	s.answers("after it", "done", false, "")(idempotent.DoLong(s.Context(), s, key, onePrint, work))
	s.answers("while it is given up", "done", true, "")(idempotent.DoLong(s.Context(), elsewhere{s.Store}, key, onePrint, work))
	s.answers("another under that key", "", false, store.CodeIdempotencyMismatch)(idempotent.DoLong(s.Context(), elsewhere{s.Store}, key, anotherPrint, work))
	s.Equal("times done", ran, 1)
}

// elsewhere is a store of which another node holds everything.
type elsewhere struct{ store.Store }

func (elsewhere) Hold(context.Context, string, func(context.Context) error) (bool, error) {
	return false, nil
}
