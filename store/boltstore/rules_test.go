package boltstore

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"teamdata/store"
	"teamdata/store/storetest"
)

// newForRules is a store with what rules work on.
func newForRules(t *testing.T, o Options) *fixture {
	t.Helper()
	f := &fixture{TB: t, path: filepath.Join(t.TempDir(), "teamdata.db")}
	f.open(o)
	t.Cleanup(func() { f.Store.Close() })
	f.update(storetest.Fill)
	return f
}

// TestRulesWhoseCommitFails: a rule whose commit fails has done nothing, and
// does all of it at the next try.
func TestRulesWhoseCommitFails(t *testing.T) {
	for _, rule := range storetest.Rules {
		t.Run(rule.Name, func(t *testing.T) {
			failing := false
			f := newForRules(t, Options{NoSync: true, BeforeCommit: func() error {
				if failing {
					return syscall.ENOSPC
				}
				return nil
			}})
			before := f.dump()
			failing = true
			for range 2 {
				if err := rule.Execute(f.Store); store.CodeOf(err) != store.CodeUnavailable || !errors.Is(err, syscall.ENOSPC) {
					t.Errorf("its commit fails, and it says %v", err)
				}
				f.says("after a failing commit", f.dump(), before)
			}
			failing = false
			var whole string
			must(t, rule.Execute(dumping{f.Store, func(text string) { whole = text }}))
			f.says("after its commit", f.dump(), whole)
			f.close()
			f.open(Options{})
			f.says("reopened", f.dump(), whole)
			f.close()
			wellKept(t, f.path)
			if before == whole {
				t.Error("it has changed nothing")
			}
		})
	}
}

// dumping is a store that tells what the file will hold after an Update, before
// it is committed.
type dumping struct {
	store.Store
	tell func(dump string)
}

func (d dumping) Update(ctx context.Context, scope store.Scope, fn func(store.Tx) error) error {
	return d.Store.Update(ctx, scope, func(st store.Tx) error {
		if err := errors.Join(fn(st), ownTx(st).writeCounts()); err != nil {
			return err
		}
		var b strings.Builder
		err := ownTx(st).bolt.ForEach(func(name []byte, bucket *bbolt.Bucket) error { return dumpBucket(&b, string(name), bucket) })
		d.tell(b.String())
		return err
	})
}

// childRules runs a rule, and tells what the file will hold and that the commit
// begins. Then it waits to be killed.
func childRules(args []string) error {
	s, err := Open(args[0], Options{BeforeCommit: func() error {
		_, err := fmt.Println("commit")
		return err
	}})
	if err != nil {
		return err
	}
	number, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	if err := storetest.Rules[number].Execute(dumping{s, func(dump string) { fmt.Printf("%q\n", dump) }}); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// TestRulesKilled kills a process while it commits a rule, at a random moment.
// The file holds all of the rule then, or nothing.
func TestRulesKilled(t *testing.T) {
	t.Parallel()
	const rounds = 2
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	f := newForRules(t, Options{NoSync: true})
	before := f.dump()
	f.close()
	content := readFile(t, f.path)
	for number, rule := range storetest.Rules {
		switch rule.Name {
		case "change a subscription", "add a member", "create a key", "remove an endpoint", "upload a file", "disable a dead endpoint", "use a sign-in link",
			"put a member", "add a batch of members", "send a batch of events", "delete an org":
		default:
			continue
		}
		all := 0
		for range rounds {
			f.path = writeCopy(t, content)
			whole := killInCommit(t, f.path, number, time.Duration(random.Int64N(int64(20*time.Millisecond))))
			wellKept(t, f.path)
			f.open(Options{})
			switch got := f.dump(); got {
			case whole:
				all++
			case before:
			default:
				t.Errorf("%s: the file holds\n%s\nneither\n%s\nnor\n%s", rule.Name, got, before, whole)
			}
			f.close()
		}
		t.Logf("%s: %d of %d were there", rule.Name, all, rounds)
	}
}

// killInCommit kills a child a while after it began to commit a rule, and returns
// what the file was to hold.
func killInCommit(t *testing.T, path string, rule int, after time.Duration) (whole string) {
	t.Helper()
	cmd := newChild(t, "rule", path, fmt.Sprint(rule))
	in, err := cmd.StdinPipe()
	must(t, err)
	defer in.Close()
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewReader(out)
	dump, err := lines.ReadString('\n')
	must(t, err)
	if line, err := lines.ReadString('\n'); line != "commit\n" {
		t.Fatalf("the child said %q: %v", line, err)
	}
	time.AfterFunc(after, func() { cmd.Process.Kill() })
	if err := cmd.Wait(); err == nil || cmd.ProcessState.Exited() {
		t.Fatalf("the child was to be killed, and ended by itself: %v", cmd.ProcessState)
	}
	whole, err = strconv.Unquote(dump[:len(dump)-1])
	must(t, err)
	return whole
}
