package boltstore

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"teamdata/store"
	"teamdata/store/rows"
)

// Idempotency records are read in the order of their keys, which they are not stored in,
// and of a key that was used again only the last one.
func TestDumpIdempotency(t *testing.T) {
	defer func(n int) { sortedKeys = n }(sortedKeys)
	path := filepath.Join(t.TempDir(), "teamdata.db")
	s, err := Open(path, Options{NoSync: true})
	must(t, err)
	var want []string
	for day := range 3 {
		for i := range 20 {
			r := store.IdempotencyRecord{OrgID: "org_1", Key: fmt.Sprint(i * 7 % 20 * (day + 1)), FirstUse: someTime.AddDate(0, 0, day)}
			must(t, s.Update(context.Background(), store.All, func(tx store.Tx) error { return tx.AddIdempotencyRecord(r) }))
			want = slices.DeleteFunc(want, func(old string) bool { return old[:len(old)-1] == r.Key+" " })
			want = append(want, fmt.Sprint(r.Key, " ", day))
		}
	}
	must(t, s.Close())
	slices.SortFunc(want, func(a, b string) int { return slices.Compare([]byte(a[:len(a)-2]), []byte(b[:len(b)-2])) })
	for _, sortedKeys = range []int{1, 2, 3, 10, 1000} {
		var got []string
		dump(t, path, func(kind store.Kind, key, record []byte) error {
			if kind != "idempotency" {
				return nil
			}
			read, err := rowsOf("idempotency").decode(record)
			r := read.(*store.IdempotencyRecord)
			if string(key) != "org_1\x00"+r.Key {
				t.Errorf("the key %q has the record of %q", key, r.Key)
			}
			got = append(got, fmt.Sprint(r.Key, " ", int(r.FirstUse.Sub(someTime)/(24*time.Hour))))
			return err
		})
		if !slices.Equal(got, want) {
			t.Errorf("%d at a time: %q, not %q", sortedKeys, got, want)
		}
	}
}

func dump(t *testing.T, path string, fn store.EachRecord) {
	t.Helper()
	must(t, ReadFile(path, nil, func(s store.Source) error { return s.Dump(context.Background(), fn) }))
}

// Each bucket is carried, unless it is made of what is carried.
func TestKinds(t *testing.T) {
	made := []string{string(bucketMeta)}
	for _, k := range rows.Kinds() {
		for _, x := range k.Indexes {
			made = append(made, x.Name)
		}
	}
	for _, name := range buckets {
		if slices.Contains(store.Kinds(), store.Kind(name)) == slices.Contains(made, string(name)) {
			t.Errorf("%s is not carried, or carried and made", name)
		}
	}
}

// A record that can't be read ends the work.
func TestCarryDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "teamdata.db")
	s, err := Open(path, Options{NoSync: true})
	must(t, err)
	bolt, err := s.db.Begin(true)
	must(t, err)
	must(t, errors.Join(bolt.Bucket([]byte("certificates")).Put([]byte("x"), []byte("pem")), bolt.Bucket([]byte("plans")).Put([]byte("pro"), []byte{200}), bolt.Commit(), s.Close()))
	to, err := Open(filepath.Join(t.TempDir(), "to.db"), Options{NoSync: true})
	must(t, err)
	defer to.Close()
	err = ReadFile(path, nil, func(s store.Source) error {
		_, err := store.Carry(context.Background(), s, to, func(store.Kind, int, bool) {})
		return err
	})
	if !errors.Is(err, rows.ErrRecord) {
		t.Error(err)
	}
}
