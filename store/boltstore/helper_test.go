package boltstore

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"teamdata/store"
	"teamdata/store/boltstore/boltfile"
	"teamdata/store/rows"
)

const testOrg = "org_test"

var bg = context.Background()

// fixture is a store with one org that has an endpoint, "whe_1".
type fixture struct {
	testing.TB
	*Store
	path string
}

func newFixture(t testing.TB, o Options) *fixture {
	t.Helper()
	f := &fixture{TB: t, path: filepath.Join(t.TempDir(), "teamdata.db")}
	f.open(o)
	f.fill()
	t.Cleanup(func() { f.Store.Close() })
	return f
}

func (f *fixture) open(o Options) {
	f.Helper()
	s, err := Open(f.path, o)
	must(f, err)
	f.Store = s
}

func (f *fixture) close() {
	f.Helper()
	must(f, f.Close())
}

func (f *fixture) fill() {
	f.Helper()
	f.update(func(tx store.Tx) error {
		if _, err := store.ImportOrg(tx, store.Org{ID: testOrg, Name: "Test"}); err != nil {
			return err
		}
		_, err := store.ImportEndpoint(tx, store.Endpoint{
			ID: "whe_1", OrgID: testOrg, URL: "https://receiver.example/hook", Events: []string{store.EventMemberAdded},
		})
		return err
	})
}

func (f *fixture) update(fn func(store.Tx) error) {
	f.Helper()
	must(f, f.Update(bg, store.All, fn))
}

func (f *fixture) view(fn func(store.Tx) error) {
	f.Helper()
	must(f, f.View(bg, fn))
}

// commits is how many commits the file has seen.
func (f *fixture) commits() int {
	f.Helper()
	tx, err := f.db.Begin(false)
	must(f, err)
	defer tx.Rollback()
	return tx.ID()
}

// used is the size of the file's part with pages, free ones included.
func (f *fixture) used() int {
	f.Helper()
	tx, err := f.db.Begin(false)
	must(f, err)
	defer tx.Rollback()
	return int(tx.Size())
}

// dump is all that the file holds, for comparing.
func (f *fixture) dump() string {
	f.Helper()
	var b strings.Builder
	err := f.db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, bucket *bbolt.Bucket) error {
			return dumpBucket(&b, string(name), bucket)
		})
	})
	must(f, err)
	return b.String()
}

func dumpBucket(b *strings.Builder, name string, bucket *bbolt.Bucket) error {
	return bucket.ForEach(func(key, value []byte) error {
		if value == nil {
			return dumpBucket(b, fmt.Sprintf("%s/%q", name, key), bucket.Bucket(key))
		}
		fmt.Fprintf(b, "%s %q = %q\n", name, key, value)
		return nil
	})
}

// says holds what is read to a text.
func (f *fixture) says(what string, got any, want string) {
	f.Helper()
	if text := fmt.Sprint(got); text != want {
		f.Errorf("%s: %s, want %s", what, text, want)
	}
}

func appendAudit(target string) func(store.Tx) error {
	return func(tx store.Tx) error {
		_, err := store.AppendAudit(tx, store.AuditEntry{OrgID: testOrg, Action: "test", TargetID: target})
		return err
	}
}

// until lets other goroutines run until a condition holds.
func until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !holds(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("timed out waiting until ", what)
		}
	}
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	must(t, err)
	return content
}

// writeFile leaves holes where content has nothing but zeros, as in a file that the engine
// has grown: nearly all of it.
func writeFile(t testing.TB, path string, content []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, boltfile.Mode)
	must(t, err)
	defer f.Close()
	must(t, f.Truncate(int64(len(content))))
	var zeros [64 << 10]byte
	for at := 0; at < len(content); at += len(zeros) {
		part := content[at:min(at+len(zeros), len(content))]
		if !bytes.Equal(part, zeros[:len(part)]) {
			_, err := f.WriteAt(part, int64(at))
			must(t, err)
		}
	}
	must(t, f.Close())
}

// refuses holds an error of Open to one line that names the file and the hint,
// and the file to what it was.
func refuses(t *testing.T, path string, wants ...string) {
	t.Helper()
	refusesWith(t, path, Options{}, wants...)
}

func refusesWith(t *testing.T, path string, o Options, wants ...string) {
	t.Helper()
	before, _ := os.ReadFile(path)
	s, err := Open(path, o)
	if err == nil {
		s.Close()
		t.Fatal("was opened")
	}
	saysOneLine(t, err.Error(), append(wants, path)...)
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("the file has changed")
	}
}

func saysOneLine(t *testing.T, line string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(line, want) {
			t.Errorf("%q lacks %q", line, want)
		}
	}
	if strings.ContainsAny(line, "\n\r") {
		t.Errorf("%q is more than one line", line)
	}
}

// topBuckets are the names of the buckets in the file.
func (f *fixture) topBuckets() map[string]bool {
	f.Helper()
	names := map[string]bool{}
	must(f, f.db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, _ *bbolt.Bucket) error {
			names[string(name)] = true
			return nil
		})
	}))
	return names
}

// putBig writes as much as no store here has left when it is full.
func putBig(name string) func(store.Tx) error {
	return func(tx store.Tx) error { return tx.PutCertificate(name, make([]byte, 256<<10)) }
}

func writeSchema(t *testing.T, path string, version uint64) {
	t.Helper()
	f := &fixture{TB: t, path: path}
	f.open(Options{})
	must(t, f.db.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketMeta).Put(keySchema, numberKey(version))
	}))
	f.close()
}

func writeBucket(t *testing.T, path, name string) {
	t.Helper()
	db, err := bbolt.Open(path, boltfile.Mode, nil)
	must(t, err)
	must(t, db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucket([]byte(name))
		return err
	}))
	must(t, db.Close())
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Buckets of rows that tests damage.
var (
	bucketEvents           = []byte("events")
	bucketDeliveries       = []byte("deliveries")
	bucketDeliveryLists    = []byte("deliveryLists")
	bucketLastAcknowledged = []byte("lastAcknowledged")
)

func orgKey(orgID, rest string) []byte { return rows.Pair(nil, orgID, rest) }

// placeKey is the key of a delivery in one of its endpoint's lists.
func placeKey(endpoint uint64, list store.DeliveryList, at store.Cursor) []byte {
	return append(rows.Number(append(rows.Number(nil, endpoint), byte(list)), at.Ms), at.ID...)
}

// someCursor is a position.
var someCursor = store.Cursor{ID: "a"}
