package pgstore_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/store"
	"teamdata/store/pgstore"
)

// load is many callers that append to the audit logs of some orgs.
type load struct {
	testing.TB
	*pgstore.Store
	progress chan struct{}
	stop     chan struct{}
	all      sync.WaitGroup
	callers  [64]caller
}

// caller is what one of them was told.
type caller struct {
	accepted []bool        // by the number of its entry: whether an answer said that it is there
	longest  time.Duration // that it waited for an answer
}

const loadOrgs = 8

func newLoad(t testing.TB, database string) *load {
	l := &load{
		TB: t, Store: open(t, database, pgstore.Options{}),
		progress: make(chan struct{}), stop: make(chan struct{}),
	}
	t.Cleanup(func() { l.Close() })
	for c := range l.callers {
		l.all.Go(func() { l.call(c) })
	}
	return l
}

func (l *load) call(c int) {
	for me := &l.callers[c]; ; {
		select {
		case <-l.stop:
			return
		default:
		}
		began, n := time.Now(), len(me.accepted)
		org := fmt.Sprint("org_", n%loadOrgs)
		err := l.Update(bg, store.InOrg(org), func(tx store.Tx) error {
			_, err := tx.AppendAudit(store.AuditEntry{OrgID: org, Action: fmt.Sprintf("%d-%d", c, n)})
			return err
		})
		me.longest = max(me.longest, time.Since(began))
		if me.accepted = append(me.accepted, err == nil); err == nil {
			select {
			case l.progress <- struct{}{}:
			default:
			}
			continue
		}
		if store.CodeOf(err) != store.CodeUnavailable {
			l.Errorf("another error than unavailable: %v", err)
		}
		<-time.After(5 * time.Millisecond) // before it tries again
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
	var found [len(l.callers)][]int
	for org := range loadOrgs {
		l.each(fmt.Sprint("org_", org), func(c, n int) { found[c] = append(found[c], n) })
	}
	var accepted, refused, lost, undead int
	var longest time.Duration
	for c, me := range l.callers {
		slices.Sort(found[c])
		if once := slices.Compact(slices.Clone(found[c])); len(once) != len(found[c]) {
			l.Errorf("of caller %d, %d are there twice", c, len(found[c])-len(once))
		}
		for n, yes := range me.accepted {
			_, is := slices.BinarySearch(found[c], n)
			switch {
			case yes && !is:
				lost++
			case !yes && is:
				undead++
			}
			if yes {
				accepted++
			} else {
				refused++
			}
		}
		longest = max(longest, me.longest)
	}
	there, gone, open := l.Doubts()
	l.Logf("%d accepted, of which %d are lost; %d refused, of which %d are there; %d commits lost their answer: %d are there, %d are not, and of %d it was not learnt; the longest wait was %v",
		accepted, lost, refused, undead, there+gone+open, there, gone, open, longest.Round(time.Millisecond))
	if lost+undead > 0 {
		l.Error("callers were told wrong")
	}
	if kit.Size(0, 100) == 100 && (there == 0 || gone == 0) || open > 0 {
		l.Error("not each kind of lost answer came about, or of one nothing was learnt")
	}
}

var actionOf = regexp.MustCompile(`"action":"(\d+)-(\d+)"`)

// each calls fn with the caller and the number of each entry of an org.
func (l *load) each(org string, fn func(c, n int)) {
	l.Helper()
	for after, more := (store.Cursor{}), true; more; {
		err := l.View(bg, func(tx store.Tx) error {
			page, err := tx.AuditPage(org, after, 1000, nil)
			for _, m := range actionOf.FindAllSubmatch(page.Items, -1) {
				c, _ := strconv.Atoi(string(m[1]))
				n, _ := strconv.Atoi(string(m[2]))
				fn(c, n)
			}
			after, more = page.Last, page.More
			return err
		})
		kit.Must(l, err)
	}
}

// TestRestarts restarts the database in the midst of commits, as a crash would.
func TestRestarts(t *testing.T) {
	t.Parallel()
	server := postgres.Start(t)
	l := newLoad(t, server.Database(t))
	for i := range kit.Size(3, 100) {
		l.await(200 + i)
		<-time.After(time.Duration(i*700%5000) * time.Microsecond) // in which a group is read, run or committed
		server.Restart(t, "immediate")
	}
	l.await(200)
	l.end()
}

// TestCuts cuts the connections at any time, also when answers had been held back:
// those of commits among them.
func TestCuts(t *testing.T) {
	t.Parallel()
	server := postgres.Shared(t)
	proxy := postgres.NewProxy(t, server)
	l := newLoad(t, proxy.URL(postgres.Name(t, server.Database(t))))
	for i := range kit.Size(20, 100) {
		l.await(20 + i)
		<-time.After(time.Duration(i%15) * time.Millisecond) // in which a group is read, run or committed
		if i%3 == 0 {
			proxy.Hold(postgres.ToClient)
			<-time.After(10 * time.Millisecond) // in which something is committed, or not
		}
		proxy.Cut()
	}
	l.await(200)
	l.end()
}

// While nobody can say what became of a commit, because the database is away, others
// are refused at once. When it is back, the caller is told.
func TestDoubtRefusesOthers(t *testing.T) {
	t.Parallel()
	server := postgres.Start(t)
	proxy := postgres.NewProxy(t, server)
	database := server.Database(t)
	s := open(t, proxy.URL(postgres.Name(t, database)), pgstore.Options{})
	t.Cleanup(func() { s.Close() })
	add := func(action string, meanwhile func()) error {
		return s.Update(bg, store.InOrg("org_1"), func(tx store.Tx) error {
			_, err := tx.AppendAudit(store.AuditEntry{OrgID: "org_1", Action: action})
			meanwhile()
			return err
		})
	}
	answer := make(chan error, 1)
	go func() { answer <- add("doubtful", func() { proxy.Hold(postgres.ToClient) }) }()
	late := time.After(5 * time.Second)
	for postgres.Exec(t, database, "SELECT count(*) FROM audit_log")[0][0] != "1" {
		select {
		case <-late:
			t.Fatal("it is not committed")
		case <-time.After(10 * time.Millisecond):
		}
	}
	server.Stop(t, "immediate")
	proxy.Cut()
	began := time.Now()
	if err := add("refused", func() {}); store.CodeOf(err) != store.CodeUnavailable || time.Since(began) > 3*time.Second {
		t.Errorf("another is told %v, after %v", err, time.Since(began))
	}
	select {
	case err := <-answer:
		t.Fatalf("it is told %v while nobody knows", err)
	default:
	}
	server.Start(t)
	if err := <-answer; err != nil {
		t.Errorf("what is there is said not to be: %v", err)
	}
	if err := add("accepted", func() {}); err != nil {
		t.Error(err)
	}
	if n := postgres.Exec(t, database, "SELECT count(*) FROM audit_log")[0][0]; n != "2" {
		t.Errorf("%s entries are there", n)
	}
}

// TestClaimWhileAway: what is due can't be claimed while the database is away, and can
// afterwards.
func TestClaimWhileAway(t *testing.T) {
	t.Parallel()
	server := postgres.Start(t)
	s := open(t, server.Database(t), pgstore.Options{})
	t.Cleanup(func() { s.Close() })
	awaitShards(t, s, 1)
	e := addEndpoints(t, s, 1)[0]
	kit.Must(t, accept(s, e.OrgID, "key"))
	claim := func() (store.Claims, error) { return s.Claim(bg, e.Number, time.Now().Add(time.Hour), 1) }
	server.Stop(t, "immediate")
	for range 3 { // by connections that are dead, and without one
		if claims, err := claim(); store.CodeOf(err) != store.CodeUnavailable {
			t.Errorf("claims %+v, %v", claims, err)
		}
	}
	server.Start(t)
	awaitShards(t, s, 1)
	claims, err := (&nodes{all: []*pgstore.Store{s}}).Claim(bg, e.Number, time.Now().Add(time.Hour), 1)
	if err != nil || len(claims.Claims) != 1 {
		t.Errorf("claims %+v, %v", claims, err)
	}
}
