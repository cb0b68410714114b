package app

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"teamdata/e2e/kit"
	"teamdata/store"
	"teamdata/store/boltstore"
)

// A check is shared by the requests that follow, so that many cost no more than one.
func TestHealthIsKept(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	a, err := Start(ctx, Settings{Data: filepath.Join(t.TempDir(), "teamdata.db"), Listen: "127.0.0.1:0", HTTP: true}, zerolog.Nop())
	kit.Must(t, err)
	defer a.close()
	h := a.newHealth(ctx)
	h.limit = 500 * time.Millisecond // the dispatcher's part waits for as long
	probe := func() {
		t.Helper()
		kit.Must(t, a.store.Probe(ctx))
	}
	probe()
	v := h.current()
	if got := strings.Join(v.failing, "; "); got != "dispatcher: it does not answer" || !v.commit {
		t.Errorf("with a dispatcher that doesn't run, it says %s", got)
	}
	v.at = v.at.Add(time.Hour) // how busy this machine is does not matter
	if h.current() != v {
		t.Error("a second request right away is checked again")
	}
	v.at = v.at.Add(-time.Hour - healthKept)
	h.checking.Lock() // as a running check does
	if h.current() != v {
		t.Error("a request during a check is not answered at once")
	}
	h.checking.Unlock()
	probe()
	committed := a.store.LastCommit()
	if h.check(); !a.store.LastCommit().Equal(committed) {
		t.Error("it made a commit though there was one just now")
	}
	stop()
	if got := h.failing(ctx); len(got) != 1 || got[0] != "stopping" {
		t.Errorf("after the stop it says %v", got)
	}
}

// Commits that fail or hang are told of without a word of the error, which names
// files, and the next check tries again.
func TestHealthOfCommits(t *testing.T) {
	var fault error
	hang := make(chan struct{})
	close(hang)
	s, err := boltstore.Open(filepath.Join(t.TempDir(), "teamdata.db"), boltstore.Options{NoSync: true, BeforeCommit: func() error {
		<-hang
		return fault
	}})
	kit.Must(t, err)
	defer s.Close()
	h := &health{stopped: t.Context(), store: s, limit: time.Minute, log: zerolog.Nop()}
	check := func(want string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), h.limit)
		defer cancel()
		got := "ok"
		if err := h.checkCommit(ctx); err != nil {
			got = h.explainCommit(err)
		}
		if got != want {
			t.Errorf("it says %q, not %q", got, want)
		}
	}
	fault = fmt.Errorf("write %s: %w", s.Path(), syscall.ENOSPC)
	check("the disk is full")
	fault = fmt.Errorf("write %s: broken", s.Path())
	check("the data file can't be written")
	fault, hang, h.limit = nil, make(chan struct{}), 20*time.Millisecond
	check("not done within 20ms")
	first := h.probing
	check("not done within 20ms")
	if h.probing != first {
		t.Error("a second probe was begun while the first hangs")
	}
	close(hang)
	h.limit = time.Minute
	check("ok")
	check("ok")

	write := func() error {
		return s.Update(t.Context(), store.All, func(tx store.Tx) error { return tx.PutPlan(store.Plan{Name: "pro"}) })
	}
	fault = syscall.EDQUOT
	if write() == nil {
		t.Error("it was written")
	}
	fault = nil
	kit.Must(t, s.Probe(t.Context()))
	check("the disk is full") // whatever a probe finds
	kit.Must(t, write())
	check("ok")
}

// A watchdog of another process, or none at all, is not fed.
func TestWatchdogEvery(t *testing.T) {
	for _, test := range []struct {
		usec, pid string
		want      time.Duration
	}{
		{"", "", 0}, {"x", "", 0}, {"-1", "", 0}, {"2000000", "1", 0}, {"2000000", "", time.Second},
	} {
		t.Setenv("WATCHDOG_USEC", test.usec)
		t.Setenv("WATCHDOG_PID", test.pid)
		if got := watchdogEvery(); got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
}
