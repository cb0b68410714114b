package boltstore

import (
	"errors"
	"os"
	"syscall"
	"testing"
	"time"

	"teamdata/store"
)

// Open reads are counted while they are open, also when there are more than
// places, and Close of each gives its place back.
func TestOpenReads(t *testing.T) {
	f := newFixture(t, Options{NoSync: true})
	const readers = 300
	entered, leave, left := make(chan struct{}), make(chan struct{}), make(chan error)
	for range readers {
		go func() {
			left <- f.View(bg, func(store.Tx) error {
				entered <- struct{}{}
				<-leave
				return nil
			})
		}()
	}
	for range readers {
		<-entered
	}
	st, err := f.Stats()
	must(t, err)
	if st.Reads != 256 || st.OldestRead <= 0 {
		t.Errorf("%d reads are seen, the oldest of %s", st.Reads, st.OldestRead)
	}
	close(leave)
	for range readers {
		must(t, <-left)
	}
	if n, oldest := f.OpenViews(); n != 0 || oldest != 0 {
		t.Errorf("%d reads are left, the oldest of %s", n, oldest)
	}
}

func TestStats(t *testing.T) {
	f := newFixture(t, Options{NoSync: true})
	st, err := f.Stats()
	must(t, err)
	info, err := os.Stat(f.path)
	must(t, err)
	if st.Size != info.Size() || st.Free < int64(os.Getpagesize()) || st.Free%int64(os.Getpagesize()) != 0 || st.Reads != 0 {
		t.Errorf("it says %+v", st)
	}
}

// Each commit is reported, with how many updates shared it, and LastCommit follows.
func TestOnCommit(t *testing.T) {
	fail := false
	f := newFixture(t, Options{NoSync: true, BeforeCommit: func() error {
		if fail {
			return syscall.ENOSPC
		}
		return nil
	}})
	var seen []store.Commit
	f.OnCommit(func(c store.Commit) { seen = append(seen, c) })
	before := time.Now()
	put := func(tx store.Tx) error { return tx.PutCertificate("a", []byte("b")) }
	for _, err := range f.batch(put, put, put) {
		must(t, err)
	}
	last := seen[len(seen)-1]
	if last.Updates != 3 || last.Took <= 0 || last.Err != nil {
		t.Errorf("reported %+v", last)
	}
	if at := f.LastCommit(); at.Before(before) || at.After(time.Now()) {
		t.Errorf("the last commit was at %s, not after %s", at, before)
	}
	seen = nil
	f.update(func(store.Tx) error { return nil })
	if len(seen) > 0 {
		t.Errorf("an update without writes is reported as %+v", seen)
	}
	must(t, f.Probe(bg))
	if len(seen) != 1 || seen[0].Err != nil {
		t.Errorf("a probe is reported as %+v", seen)
	}
	fail = true
	if err := f.Probe(bg); !errors.Is(err, syscall.ENOSPC) || !f.LastCommit().IsZero() {
		t.Errorf("on a full disk a probe ends with %v, and the last commit was at %s", err, f.LastCommit())
	}
	if len(seen) != 2 || seen[1].Err == nil {
		t.Errorf("a commit that failed is reported as %+v", seen)
	}
	fail = false
	must(t, f.Probe(bg))
}

func TestBacklog(t *testing.T) {
	f := newFixture(t, Options{NoSync: true})
	backlog := func() (b store.Backlog) {
		must(t, f.View(bg, func(tx store.Tx) (err error) {
			b, err = tx.Backlog(bg)
			return err
		}))
		return b
	}
	empty := backlog()
	if empty != (store.Backlog{}) {
		t.Errorf("of nothing it is %+v", empty)
	}
	f.sendTests(5)
	claims, err := f.Claim(bg, 1, f.now(), 2)
	must(t, err)
	must(t, f.attempt(claims.Claims[0].Delivery.ID))
	f.update(func(tx store.Tx) error {
		now := tx.Now()
		failed := store.Attempt{StartedAt: now, EndedAt: now, Status: 500, Reason: "the receiver answered 500"}
		_, err := store.RecordAttempt(tx, claims.Claims[1].Delivery.ID, failed, store.DefaultRetrySchedule)
		return err
	})
	f.update(func(tx store.Tx) error {
		_, err := store.ImportEndpoint(tx, store.Endpoint{ID: "whe_2", OrgID: testOrg, URL: "https://receiver.example/2", Events: []string{store.EventMemberAdded}})
		if err != nil {
			return err
		}
		if _, err = store.SendTest(tx, testOrg, "whe_2"); err != nil {
			return err
		}
		e, err := tx.Endpoint(testOrg, "whe_2")
		if err != nil {
			return err
		}
		e.DisabledAt = tx.Now()
		return errors.Join(tx.PutEndpoint(e), tx.PutMail(store.Mail{ID: "mail_1", OrgID: testOrg, CreatedAt: tx.Now()}))
	})
	b := backlog()
	if b.Due != 3 || b.Later != 1 || b.Held != 1 || b.Busy != 1 || b.Mails != 1 || b.Capped || b.DueAt.IsZero() || b.HeldAt.IsZero() || b.MailsAt.IsZero() {
		t.Errorf("it is %+v", b)
	}
}
