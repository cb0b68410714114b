package pgstore_test

import (
	"flag"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"teamdata/internal/pgtest"
	"teamdata/store"
	"teamdata/store/pgstore"
)

var faults = flag.Int("pgstore.faults", 3, "how many restarts and cuts the tests of faults make")

// load is many callers that append to the audit logs of some orgs.
type load struct {
	testing.TB
	*pgstore.Store
	progress chan struct{}
	stop     chan struct{}
	all      sync.WaitGroup

	mu       sync.Mutex
	accepted map[string]bool // by action: whether an answer said that it is there
	longest  time.Duration   // that a caller waited
}

const loadOrgs = 8

func newLoad(t testing.TB, database string) *load {
	l := &load{
		TB: t, Store: open(t, database, pgstore.Options{}), accepted: map[string]bool{},
		progress: make(chan struct{}), stop: make(chan struct{}),
	}
	t.Cleanup(func() { l.Close() })
	for caller := range 64 {
		l.all.Go(func() { l.call(caller) })
	}
	return l
}

func (l *load) call(caller int) {
	for i := 0; ; i++ {
		select {
		case <-l.stop:
			return
		default:
		}
		action, began := fmt.Sprintf("%d-%d", caller, i), time.Now()
		org := fmt.Sprint("org_", i%loadOrgs)
		err := l.Update(bg, store.InOrg(org), func(tx store.Tx) error {
			_, err := tx.AppendAudit(store.AuditEntry{OrgID: org, Action: action})
			return err
		})
		if err != nil && store.CodeOf(err) != store.CodeUnavailable {
			l.Errorf("another error than unavailable: %v", err)
		}
		l.mu.Lock()
		l.accepted[action] = err == nil
		l.longest = max(l.longest, time.Since(began))
		l.mu.Unlock()
		if err == nil {
			select {
			case l.progress <- struct{}{}:
			default:
			}
		}
	}
}

// await waits until some updates were accepted.
func (l *load) await(n int) {
	l.Helper()
	late := time.After(time.Minute)
	for range n {
		select {
		case <-l.progress:
		case <-late:
			l.Fatal("nothing is accepted any more")
		}
	}
}

// end ends the callers, and holds what is there to what they were told.
func (l *load) end() {
	l.Helper()
	close(l.stop)
	l.all.Wait()
	there := map[string]bool{}
	for org := range loadOrgs {
		for after, more := (store.Cursor{}), true; more; {
			err := l.View(bg, func(tx store.Tx) error {
				page, err := tx.AuditPage(fmt.Sprint("org_", org), after, 1000, nil)
				for _, rest := range strings.Split(string(page.Items), `"action":"`)[1:] {
					action, _, _ := strings.Cut(rest, `"`)
					there[action] = true
				}
				after, more = page.Last, page.More
				return err
			})
			if err != nil {
				l.Fatal(err)
			}
		}
	}
	accepted, refused := 0, 0
	for action, yes := range l.accepted {
		switch {
		case yes && !there[action]:
			l.Errorf("%s was accepted and is lost", action)
		case !yes && there[action]:
			l.Errorf("%s was refused and is there", action)
		}
		if yes {
			accepted++
		} else {
			refused++
		}
	}
	l.Logf("%d accepted, %d refused, the longest wait %v", accepted, refused, l.longest)
}

// TestRestarts restarts the database in the midst of commits, as a crash would.
func TestRestarts(t *testing.T) {
	server := pgtest.Start(t)
	l := newLoad(t, server.Database(t))
	for range *faults {
		l.await(200)
		server.Restart(t, "immediate")
	}
	l.await(200)
	l.end()
}

// TestCuts cuts the connections at any time, also when answers had been held back:
// those of commits among them.
func TestCuts(t *testing.T) {
	server := pgtest.Shared(t)
	proxy := pgtest.NewProxy(t, server)
	l := newLoad(t, proxy.URL(pgtest.Name(t, server.Database(t))))
	for i := range 10 * *faults {
		l.await(20 + i)
		<-time.After(time.Duration(i%15) * time.Millisecond) // in which a group is read, run or committed
		if i%3 == 0 {
			proxy.Hold(pgtest.ToClient)
			<-time.After(10 * time.Millisecond) // in which something is committed, or not
		}
		proxy.Cut()
	}
	l.await(200)
	l.end()
}
