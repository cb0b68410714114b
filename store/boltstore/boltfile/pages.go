package boltfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"go.etcd.io/bbolt"
)

// pageWalk reads all used pages according to the file format, without bbolt,
// which would follow the references of a damaged page out of the file or in a
// loop and crash the process.
type pageWalk struct {
	read     func(at int64, n int) ([]byte, error)
	pageSize uint64
	end      uint64   // number of pages
	seen     []uint64 // one bit a page: it is used
	used     uint64   // number of bits set
	step     func()   // called after each page; nil: nothing is
}

// Kinds of pages, and the mark of a leaf's entry that is a bucket.
const (
	branchPage  = 1
	leafPage    = 2
	bucketEntry = 1
)

const pageHead, entryHead, bucketHead = 16, 16, 16 // bytes

func newPageWalk(read func(at int64, n int) ([]byte, error), h head) *pageWalk {
	return &pageWalk{read: read, pageSize: h.pageSize, end: h.end, seen: make([]uint64, h.end/64+1)}
}

// readFrom reads parts of a file.
func readFrom(r io.ReaderAt) func(at int64, n int) ([]byte, error) {
	return func(at int64, n int) ([]byte, error) {
		b := make([]byte, n)
		_, err := r.ReadAt(b, at)
		return b, err
	}
}

// WalkPages checks that each used page is within the file, is used once, and
// contains what it refers to, and calls step after each unless it is nil. used is the
// size of these pages in bytes. The text of its errors continues the word page.
func WalkPages(db *bbolt.DB, step func()) (used int64, err error) {
	err = db.View(func(bolt *bbolt.Tx) error {
		w, err := walk(bolt, step)
		if err == nil {
			used = int64(w.used * w.pageSize)
		}
		return err
	})
	return used, err
}

// Check is bbolt's own check, once WalkPages finds no fault. In a file without a list of
// free pages bbolt would search for them, and end the process at the first wrong key. Of
// such a file only the keys are checked.
func Check(bolt *bbolt.Tx, step func(), found func(fault string)) error {
	if !hasFreelist(bolt.DB().Path()) {
		return checkKeys(bolt.Cursor().Bucket(), step)
	}
	for fault := range bolt.Check() {
		found(fault.Error())
	}
	return compareFree(bolt, step)
}

// checkKeys checks that the keys of each bucket rise, and that it finds the buckets in it.
func checkKeys(b *bbolt.Bucket, step func()) error {
	var last []byte
	c := b.Cursor()
	for key, value := c.First(); key != nil; key, value = c.Next() {
		if last != nil && bytes.Compare(last, key) >= 0 {
			return fmt.Errorf("with the key %q after %q", key, last)
		}
		if value == nil {
			inner := b.Bucket(key)
			if inner == nil {
				return fmt.Errorf("with the bucket %q, which is not found", key)
			}
			if err := checkKeys(inner, step); err != nil {
				return err
			}
		}
		if last = key; step != nil {
			step()
		}
	}
	return nil
}

// CompareFree checks, for tests, that bbolt takes the same pages for free as Open does
// after a crash: those of the file's list, or those that bbolt's own search finds if there
// is no list. The file must be sound.
func CompareFree(path string) (hasList bool, err error) {
	db, err := bbolt.Open(path, Mode, &bbolt.Options{Timeout: lockTimeout, ReadOnly: true, PreLoadFreelist: true})
	if err != nil {
		return false, err
	}
	defer db.Close()
	return hasFreelist(path), db.View(func(bolt *bbolt.Tx) error { return compareFree(bolt, nil) })
}

// compareFree checks that bbolt takes those pages for free that a walk finds unused. The
// text of its errors continues the word page.
func compareFree(bolt *bbolt.Tx, step func()) error {
	w, err := walk(bolt, step)
	if err != nil {
		return err
	}
	for id := uint64(2); id < w.end; id++ {
		switch page, err := bolt.Page(int(id)); {
		case err != nil:
			return fmt.Errorf("%d: %w", id, err)
		case (page.Type == "free") == w.isSeen(id):
			return fmt.Errorf("%d is free for bbolt: %v, and used: %v", id, page.Type == "free", w.isSeen(id))
		}
	}
	return nil
}

// walk walks through the pages that a transaction sees: it keeps them from being
// reused.
func walk(bolt *bbolt.Tx, step func()) (*pageWalk, error) {
	file, err := os.Open(bolt.DB().Path())
	if err != nil {
		return nil, err
	}
	defer file.Close()
	h, err := headOf(file, bolt)
	if err != nil {
		return nil, fmt.Errorf("0: %w", err)
	}
	w := newPageWalk(readFrom(file), h)
	if w.step = step; h.list != noList {
		if _, err := w.claim(h.list); err != nil {
			return nil, fmt.Errorf("%d %w", h.list, err)
		}
	}
	return w, w.page(h.root)
}

func (w *pageWalk) page(id uint64) error {
	size, err := w.claim(id)
	if err == nil {
		err = w.entries(int64(id*w.pageSize), size)
		if w.step != nil {
			w.step()
		}
	}
	if err != nil {
		return fmt.Errorf("%d %w", id, err)
	}
	return nil
}

// claim marks a page and its overflow pages as used. size is theirs in bytes.
func (w *pageWalk) claim(id uint64) (size uint64, err error) {
	if id < 2 || id >= w.end {
		return 0, fmt.Errorf("is outside the file's pages, 2 to %d", w.end-1)
	}
	head, err := w.read(int64(id*w.pageSize), pageHead)
	if err != nil {
		return 0, err
	}
	pages := 1 + uint64(binary.NativeEndian.Uint32(head[12:]))
	if is := binary.NativeEndian.Uint64(head); is != id || pages > w.end-id {
		return 0, fmt.Errorf("is damaged: it says that it is page %d, and %d long", is, pages)
	}
	for i := id; i < id+pages; i++ {
		if w.isSeen(i) {
			return 0, fmt.Errorf("is used twice")
		}
		w.seen[i/64] |= 1 << (i % 64)
	}
	w.used += pages
	return pages * w.pageSize, nil
}

func (w *pageWalk) isSeen(id uint64) bool { return w.seen[id/64]>>(id%64)&1 == 1 }

// entries checks the entries of a page of a size in bytes; a page inside a bucket's
// entry has no id.
func (w *pageWalk) entries(at int64, size uint64) error {
	if size < pageHead {
		return fmt.Errorf("holds a bucket that is cut short")
	}
	head, err := w.read(at, pageHead)
	if err != nil {
		return err
	}
	kind, count := binary.NativeEndian.Uint16(head[8:]), uint64(binary.NativeEndian.Uint16(head[10:]))
	if kind != branchPage && kind != leafPage || kind == branchPage && count == 0 || pageHead+count*entryHead > size {
		return fmt.Errorf("is damaged: kind %d with %d entries", kind, count)
	}
	list, err := w.read(at+pageHead, int(count*entryHead))
	if err != nil {
		return err
	}
	for i := range count {
		skip := pageHead + i*entryHead
		b := list[i*entryHead:][:entryHead]
		if kind == leafPage && isRecord(b, size-skip) { // as nearly all are
			continue
		}
		if err := w.entry(b, kind, at+int64(skip), size-skip); err != nil {
			return fmt.Errorf("→ %w", err)
		}
	}
	return nil
}

// isRecord reports whether a leaf's entry is a record that fits in the size bytes that
// begin with it.
func isRecord(b []byte, size uint64) bool {
	_ = b[entryHead-1]
	start := uint64(binary.NativeEndian.Uint32(b[4:])) + uint64(binary.NativeEndian.Uint32(b[8:]))
	return binary.NativeEndian.Uint32(b)&bucketEntry == 0 && start+uint64(binary.NativeEndian.Uint32(b[12:])) <= size
}

// entry checks an entry that is no record: it must fit, with what it refers to, in the
// size bytes that begin with it.
func (w *pageWalk) entry(b []byte, kind uint16, at int64, size uint64) error {
	word := func(i int) uint64 { return uint64(binary.NativeEndian.Uint32(b[4*i:])) }
	if kind == branchPage {
		if word(0)+word(1) > size {
			return fmt.Errorf("a key of %d bytes, outside the page", word(1))
		}
		return w.page(binary.NativeEndian.Uint64(b[8:]))
	}
	start, length := word(1)+word(2), word(3)
	if start+length > size {
		return fmt.Errorf("an entry of %d and %d bytes, outside the page", word(2), length)
	}
	return w.bucket(at+int64(start), length)
}

// bucket checks a bucket, whose root is a page or follows its head.
func (w *pageWalk) bucket(at int64, size uint64) error {
	if size < bucketHead {
		return fmt.Errorf("a bucket of %d bytes", size)
	}
	head, err := w.read(at, bucketHead)
	if err != nil {
		return err
	}
	if root := binary.NativeEndian.Uint64(head); root != 0 {
		return w.page(root)
	}
	return w.entries(at+bucketHead, size-bucketHead)
}
