package boltstore

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"teamdata/store"
)

// BenchmarkUpdateAlone is what a lone caller waits for, beside what this disk
// takes for one sync. bbolt syncs twice a commit: the pages, then the head.
func BenchmarkUpdateAlone(b *testing.B) {
	f := newFixture(b, Options{})
	sync := syncTime(b, filepath.Dir(f.path))
	for b.Loop() {
		f.update(appendAudit("usr_1"))
	}
	each := b.Elapsed() / time.Duration(b.N)
	b.ReportMetric(float64(sync.Microseconds()), "µs/fdatasync")
	b.ReportMetric(float64(each)/float64(sync), "fdatasyncs/update")
}

// syncTime is how long a page that is written over takes to be on the disk.
func syncTime(b *testing.B, folder string) time.Duration {
	b.Helper()
	const n = 200
	file, err := os.Create(filepath.Join(folder, "baseline"))
	must(b, err)
	defer file.Close()
	page := make([]byte, 4096)
	var start time.Time
	for i := range n + 1 {
		if i == 1 { // the first one also makes room
			start = time.Now()
		}
		_, err := file.WriteAt(page, 0)
		must(b, err)
		must(b, syscall.Fdatasync(int(file.Fd())))
	}
	return time.Since(start) / n
}

// BenchmarkUpdate64 is what 64 callers get done together.
func BenchmarkUpdate64(b *testing.B) {
	const callers = 64
	f := newFixture(b, Options{})
	body := []byte(strings.Repeat("x", 1000))
	record := func(tx store.Tx) error {
		return tx.AddEvent(store.Event{ID: tx.NewID(store.PrefixEvent), OrgID: testOrg, CreatedAt: tx.Now(), Body: body}, nil)
	}
	before := f.commits()
	var done sync.WaitGroup
	b.ResetTimer()
	for caller := range callers {
		done.Go(func() {
			for i := caller; i < b.N; i += callers {
				f.update(record)
			}
		})
	}
	done.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "updates/s")
	b.ReportMetric(float64(b.N)/float64(f.commits()-before), "updates/commit")
}

func BenchmarkView(b *testing.B) {
	f := newFixture(b, Options{NoSync: true})
	f.update(func(tx store.Tx) error {
		for i := range 10_000 {
			if err := appendAudit(fmt.Sprintf("usr_%04d", i))(tx); err != nil {
				return err
			}
		}
		return nil
	})
	b.Run("get", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			f.view(func(tx store.Tx) error {
				_, err := tx.Org(testOrg)
				return err
			})
		}
	})
	b.Run("page of 100", func(b *testing.B) {
		var buf []byte
		var after store.Cursor
		b.ReportAllocs()
		for b.Loop() {
			f.view(func(tx store.Tx) error {
				page, err := tx.AuditPage(testOrg, after, 100, buf[:0])
				buf, after = page.Items, page.Last
				return err
			})
		}
	})
}

// deleteEvents adds so many events, each of which takes a page, and deletes them.
func (f *fixture) deleteEvents(n int) {
	const batch = 1000
	body := make([]byte, os.Getpagesize()*3/4)
	for range n / batch {
		f.update(func(tx store.Tx) (err error) {
			for range batch {
				err = errors.Join(err, tx.AddEvent(store.Event{ID: tx.NewID(store.PrefixEvent), OrgID: testOrg, CreatedAt: tx.Now(), Body: body}, nil))
			}
			return err
		})
	}
	for range n / batch {
		f.update(func(t store.Tx) (err error) {
			ownTx(t).dropped = true
			for range batch {
				cursor := ownTx(t).bolt.Bucket(bucketEvents).Cursor()
				cursor.First()
				err = errors.Join(err, cursor.Delete())
			}
			return err
		})
	}
}

// BenchmarkOpenAfterCrash is what Open takes of a file that was not closed, with half of
// its pages free, in the system's cache or not.
func BenchmarkOpenAfterCrash(b *testing.B) {
	const pages = 50_000
	f := newFixture(b, Options{NoSync: true})
	f.deleteEvents(pages)
	f.update(func(tx store.Tx) error { return tx.PutCertificate("large", make([]byte, pages/4*os.Getpagesize())) })
	f.addFinished(pages / 5)
	for _, cold := range []bool{false, true} {
		b.Run(map[bool]string{false: "cached", true: "cold"}[cold], func(b *testing.B) {
			crashed := filepath.Join(b.TempDir(), "crashed.db")
			for b.Loop() {
				b.StopTimer()
				must(b, exec.Command("cp", f.path, crashed).Run())
				if cold {
					dropCache(b, crashed)
				}
				b.StartTimer()
				s, err := Open(crashed, Options{NoSync: true})
				must(b, err)
				b.StopTimer()
				must(b, s.Close())
				b.StartTimer()
			}
			b.ReportMetric(float64(f.used()>>20), "used-MiB")
		})
	}
}

// dropCache removes a file from the system's cache.
func dropCache(b *testing.B, path string) {
	b.Helper()
	const dontNeed = 4
	file, err := os.Open(path)
	must(b, err)
	defer file.Close()
	must(b, file.Sync())
	if _, _, errno := syscall.Syscall6(syscall.SYS_FADVISE64, file.Fd(), 0, 0, dontNeed, 0, 0); errno != 0 {
		b.Fatal(errno)
	}
}
