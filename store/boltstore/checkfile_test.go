package boltstore

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"teamdata/store"
	"teamdata/store/boltstore/boltfile"
)

func writeCopy(t *testing.T, content []byte) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "teamdata.db")
	writeFile(t, path, content)
	return path
}

// TestCheckRefuses: what can't be checked is reported in one line with a hint.
func TestCheckRefuses(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	must(t, os.Mkdir(at("folder"), 0o700))
	writeFile(t, at("text"), []byte("members:\n- Ada\n"))
	writeFile(t, at("empty"), nil)
	writeBucket(t, at("foreign"), "widgets")
	writeSchema(t, at("newer"), schemaVersion()+1)
	writeSchema(t, at("older"), schemaVersion()-1)
	busy := newFixture(t, Options{NoSync: true})
	for path, wants := range map[string][]string{
		at("missing"):      {"does not exist", "--data"},
		at("none/missing"): {"there is no folder"},
		at("folder"):       {"is a folder"},
		at("text"):         {"not a teamdata file", "backup"},
		at("empty"):        {"is empty"},
		at("foreign"):      {"not one of teamdata", "--data"},
		at("newer"):        {fmt.Sprint("has schema ", schemaVersion()+1), fmt.Sprint("up to ", schemaVersion()), "newer teamdata", "backup"},
		at("older"):        {fmt.Sprint("has an older schema: ", schemaVersion()-1), fmt.Sprint("reads ", schemaVersion()), "serve it once"},
		busy.path:          {"in use", "by process"},
	} {
		before, _ := os.ReadFile(path)
		err := Check(path, func(fault string) { t.Errorf("%s: a fault is found: %s", path, fault) })
		if err == nil {
			t.Errorf("%s was checked", path)
			continue
		}
		saysOneLine(t, err.Error(), append(wants, path)...)
		if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
			t.Errorf("%s has changed", path)
		}
	}
	for _, name := range []string{"missing", "none"} {
		if _, err := os.Stat(at(name)); err == nil {
			t.Errorf("%s was made", name)
		}
	}
}

// TestCheckDamagedPage loses each page in turn, or its insides. That is reported, and
// nothing crashes.
func TestCheckDamagedPage(t *testing.T) { eachWellFilled(t, testCheckDamagedPage) }

func testCheckDamagedPage(t *testing.T, content []byte, used, pageSize int) {
	content = content[:used]
	free := freePages(t, content)
	path := writeCopy(t, content)
	for page := 2; page < used/pageSize; page++ {
		for _, from := range []int{0, 16} { // all of it, or all but its head
			for _, fill := range []byte{0, 1, 0x5a, 0xff} {
				damaged := bytes.Clone(content)
				copy(damaged[page*pageSize+from:], bytes.Repeat([]byte{fill}, pageSize-from))
				if faults := checkCopy(t, path, damaged); faults == 0 && !free[page] {
					t.Errorf("page %d from %d is all %#x, and nothing is found", page, from, fill)
				}
			}
		}
	}
}

// checkCopy counts what is found in a file of that content, or that it can't be
// checked.
func checkCopy(t *testing.T, path string, content []byte) (faults int) {
	t.Helper()
	writeFile(t, path, content)
	err := Check(path, func(fault string) {
		saysOneLine(t, fault)
		faults++
	})
	if err != nil {
		saysOneLine(t, err.Error(), path)
		faults++
	}
	return faults
}

// TestCheckFlips changes some bytes anywhere behind the two heads. It may not
// matter, but nothing crashes.
func TestCheckFlips(t *testing.T) { eachWellFilled(t, testCheckFlips) }

func testCheckFlips(t *testing.T, content []byte, used, pageSize int) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	content = content[:used]
	path := writeCopy(t, content)
	noticed := 0
	for range 300 {
		damaged := bytes.Clone(content)
		page := damaged[(2+random.IntN(used/pageSize-2))*pageSize:][:pageSize]
		for range 1 + random.IntN(3) {
			at := random.IntN(pageSize)
			if random.IntN(2) == 0 {
				at = random.IntN(64) // among the heads of the page and its entries
			}
			page[at] ^= byte(1 + random.IntN(255))
		}
		if checkCopy(t, path, damaged) > 0 {
			noticed++
		}
	}
	if noticed == 0 {
		t.Error("no damage was noticed")
	}
}

func freePages(t *testing.T, content []byte) map[int]bool {
	t.Helper()
	db, err := bbolt.Open(writeCopy(t, content), boltfile.Mode, &bbolt.Options{NoFreelistSync: true})
	must(t, err)
	defer db.Close()
	free := map[int]bool{}
	must(t, db.View(func(tx *bbolt.Tx) error {
		for id := 2; ; id++ {
			page, err := tx.Page(id)
			if err != nil || page == nil {
				return err
			}
			free[id] = page.Type == "free"
		}
	}))
	return free
}

func TestCheckAfterWork(t *testing.T) {
	f := newFixture(t, Options{NoSync: true})
	f.sendTests(20)
	claims, err := f.Claim(bg, 1, f.Now(), 20)
	must(t, err)
	for _, c := range claims.Claims {
		must(t, f.attempt(c.Delivery.ID))
	}
	must(t, store.Sweep(bg, f, store.Retention{Finished: -1, Held: -1}))
	f.close()
	wellKept(t, f.path)
}
