package boltfile

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.etcd.io/bbolt"

	"teamdata/e2e/kit"
)

// TestFreelistIsBolts: after any commit of a file that grows and shrinks, the pages
// that are found free are those that bbolt finds, bar the ones that the list then
// takes; and what is there is sound and can be written.
func TestFreelistIsBolts(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, seed)
			commits := 40
			if kit.Raced {
				commits = 10
			}
			for range commits {
				w.commit()
				w.checkFreelist()
				if w.random.IntN(4) == 0 {
					w.checkSecondCrash()
				}
			}
		})
	}
}

// TestLongFreelist is of more pages than the head of a page can count.
func TestLongFreelist(t *testing.T) {
	w := newWorld(t, 0)
	large := []byte("large")
	must(t, w.db.Update(func(bolt *bbolt.Tx) error {
		b, err := bolt.CreateBucket(large)
		must(t, err)
		return b.Put(large, make([]byte, 66_000*w.pageSize))
	}))
	must(t, w.db.Update(func(bolt *bbolt.Tx) error { return bolt.DeleteBucket(large) }))
	w.checkFreelist()
}

// world is a file whose list of free pages is not written, as that of a server.
type world struct {
	*testing.T
	random   *rand.Rand
	path     string
	pageSize int
	db       *bbolt.DB
}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{T: t, random: rand.New(rand.NewPCG(seed, 0)), path: filepath.Join(t.TempDir(), "world.db")}
	w.pageSize = []int{1024, 4096}[seed%2]
	var err error
	w.db, err = bbolt.Open(w.path, Mode, &bbolt.Options{PageSize: w.pageSize, NoSync: true, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType})
	must(t, err)
	w.db.AllocSize = w.pageSize
	t.Cleanup(func() { w.db.Close() })
	return w
}

// commit writes and deletes some of a hundred records in each of some buckets, which
// are small, large, inside one another, or a page of their own.
func (w *world) commit() {
	w.Helper()
	must(w.T, w.db.Update(func(bolt *bbolt.Tx) error {
		for range w.random.IntN(60) {
			b, err := bolt.CreateBucketIfNotExists([]byte{byte(w.random.IntN(4))})
			must(w.T, err)
			if w.random.IntN(3) == 0 {
				b, err = b.CreateBucketIfNotExists([]byte("inner"))
				must(w.T, err)
			}
			key := fmt.Append(nil, "key", w.random.IntN(100))
			if w.random.IntN(2) == 0 {
				must(w.T, b.Delete(key))
				continue
			}
			must(w.T, b.Put(key, make([]byte, w.random.IntN([]int{10, 300, 5 * w.pageSize}[w.random.IntN(3)]))))
		}
		if name := []byte{byte(w.random.IntN(4))}; w.random.IntN(10) == 0 && bolt.Bucket(name) != nil {
			return bolt.DeleteBucket(name)
		}
		return nil
	}))
}

func (w *world) checkFreelist() {
	w.Helper()
	before, after := w.copy("before.db"), w.copy("after.db")
	must(w.T, restoreFreelist(after, true))
	h, err := readHead(after)
	must(w.T, err)
	if h.list == noList {
		w.Fatal("no list was written")
	}
	again, err := os.ReadFile(after.Name())
	must(w.T, err)
	must(w.T, restoreFreelist(after, true)) // there is one: it has nothing to do
	if now, err := os.ReadFile(after.Name()); err != nil || !slices.Equal(now, again) {
		w.Fatalf("a file with a list is written, %v", err)
	}
	list := make([]byte, pageHead)
	_, err = after.ReadAt(list, int64(h.list*h.pageSize))
	must(w.T, err)
	found := w.freeIn("after.db")
	for i := range uint64(list[12]) | uint64(list[13])<<8 + 1 {
		found = append(found, h.list+i)
	}
	slices.Sort(found)
	was, err := readHead(before)
	must(w.T, err)
	found = slices.DeleteFunc(found, func(id uint64) bool { return id >= was.end })
	if want := w.freeIn("before.db"); !slices.Equal(found, want) {
		w.Fatalf("%d pages are found free, bbolt finds %d:\n%v\n%v", len(found), len(want), found, want)
	}
}

// checkSecondCrash restores the list once more where a crash left any part of that: some
// sectors of the list, without a head or with part of it.
func (w *world) checkSecondCrash() {
	w.Helper()
	before, after := w.copy("before.db"), w.copy("after.db")
	must(w.T, restoreFreelist(after, false))
	old, err := os.ReadFile(before.Name())
	must(w.T, err)
	whole, err := os.ReadFile(after.Name())
	must(w.T, err)
	crashed := append(old, make([]byte, len(whole)-len(old))...)
	const sector = 512
	for at := 2 * w.pageSize; at < len(whole); at += sector {
		if w.random.IntN(2) == 0 {
			copy(crashed[at:at+sector], whole[at:])
		}
	}
	for i := range 2 {
		head := whole[i*w.pageSize:][:headEnd]
		copy(crashed[i*w.pageSize:], head[:w.random.IntN(headEnd)])
	}
	must(w.T, os.WriteFile(after.Name(), crashed, Mode))
	must(w.T, restoreFreelist(after, false))
	again, err := os.ReadFile(after.Name())
	must(w.T, err)
	if !slices.Equal(again, whole) {
		w.Fatal("after a second crash the list is another")
	}
}

func (w *world) copy(name string) *os.File {
	w.Helper()
	b, err := os.ReadFile(w.path)
	must(w.T, err)
	name = filepath.Join(filepath.Dir(w.path), name)
	must(w.T, os.WriteFile(name, b, Mode))
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	must(w.T, err)
	w.Cleanup(func() { file.Close() })
	return file
}

// freeIn returns the pages of a copy that bbolt takes for free, and sees that the
// copy is sound, before and after a commit.
func (w *world) freeIn(name string) (free []uint64) {
	w.Helper()
	db, err := bbolt.Open(filepath.Join(filepath.Dir(w.path), name), Mode, &bbolt.Options{NoSync: true, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType})
	must(w.T, err)
	defer db.Close()
	sound := func(bolt *bbolt.Tx) error {
		for err := range bolt.Check() {
			w.Error(err)
		}
		return nil
	}
	must(w.T, db.View(func(bolt *bbolt.Tx) error {
		for id := 2; ; id++ {
			page, err := bolt.Page(id)
			if must(w.T, err); page == nil {
				return sound(bolt)
			}
			if page.Type == "free" {
				free = append(free, uint64(id))
			}
		}
	}))
	must(w.T, db.Update(func(bolt *bbolt.Tx) error {
		b, err := bolt.CreateBucketIfNotExists([]byte("more"))
		must(w.T, err)
		return b.Put([]byte("key"), make([]byte, 3*w.pageSize))
	}))
	must(w.T, db.View(sound))
	return free
}
