package boltfile

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"

	"go.etcd.io/bbolt"
)

// pageWalk reads all used pages according to the file format, without bbolt,
// which would follow the references of a damaged page out of the file or in a
// loop and crash the process.
type pageWalk struct {
	file     *os.File
	pageSize uint64
	end      uint64 // number of pages
	seen     map[uint64]bool
}

// Kinds of pages, and the mark of a leaf's entry that is a bucket.
const (
	branchPage  = 1
	leafPage    = 2
	bucketEntry = 1
)

const pageHead, entryHead, bucketHead = 16, 16, 16 // bytes

// WalkPages checks that each used page is within the file, is used once, and
// contains what it refers to. used is the size of these pages in bytes. The text
// of its errors continues the word page.
func WalkPages(db *bbolt.DB) (used int64, err error) {
	file, err := os.Open(db.Path())
	if err != nil {
		return 0, err
	}
	defer file.Close()
	size := uint64(db.Info().PageSize)
	w := pageWalk{file: file, pageSize: size, seen: map[uint64]bool{}}
	err = db.View(func(bolt *bbolt.Tx) error {
		w.end = uint64(bolt.Size()) / size
		if err := w.freelist(uint64(bolt.ID())); err != nil {
			return err
		}
		return w.page(uint64(bolt.Cursor().Bucket().RootPage()))
	})
	return int64(uint64(len(w.seen)) * size), err
}

// freelist checks the page with the list of free pages.
func (w *pageWalk) freelist(commit uint64) error {
	id, err := freelistPage(w.file, w.pageSize, commit)
	if err != nil || id == 0 {
		return err
	}
	if _, err := w.read(id); err != nil {
		return fmt.Errorf("%d %w", id, err)
	}
	return nil
}

// freelistPage returns the page with the list of free pages, or 0. Its number is
// in the valid head of the file: the one of the last commit.
func freelistPage(file *os.File, pageSize, commit uint64) (id uint64, err error) {
	const freelistAt, commitAt, none = 48, 64, math.MaxUint64 // bytes of the head
	for page := range uint64(2) {
		var head [commitAt + 8]byte
		if _, err := file.ReadAt(head[:], int64(page*pageSize)); err != nil {
			return 0, err
		}
		id := binary.NativeEndian.Uint64(head[freelistAt:])
		if binary.NativeEndian.Uint64(head[commitAt:]) == commit && id != none {
			return id, nil
		}
	}
	return 0, nil
}

// FreePages returns the number of free pages as of a transaction. A list too long
// for the count in its page's head begins with its length.
func FreePages(file *os.File, bolt *bbolt.Tx) (int64, error) {
	const many = math.MaxUint16
	size := bolt.DB().Info().PageSize
	list, err := freelistPage(file, uint64(size), uint64(bolt.ID()))
	if err != nil || list == 0 { // a newer commit has replaced the head: the next call reads that
		return 0, err
	}
	var begin [pageHead + 8]byte
	if _, err := file.ReadAt(begin[:], int64(list)*int64(size)); err != nil {
		return 0, err
	}
	if n := binary.NativeEndian.Uint16(begin[10:]); n < many {
		return int64(n), nil
	}
	return int64(binary.NativeEndian.Uint64(begin[pageHead:])), nil
}

func (w *pageWalk) page(id uint64) error {
	content, err := w.read(id)
	if err == nil {
		err = w.entries(content)
	}
	if err != nil {
		return fmt.Errorf("%d %w", id, err)
	}
	return nil
}

// read reads a page with its overflow pages.
func (w *pageWalk) read(id uint64) ([]byte, error) {
	if id < 2 || id >= w.end {
		return nil, fmt.Errorf("is outside the file's pages, 2 to %d", w.end-1)
	}
	var head [pageHead]byte
	if _, err := w.file.ReadAt(head[:], int64(id*w.pageSize)); err != nil {
		return nil, err
	}
	pages := 1 + uint64(binary.NativeEndian.Uint32(head[12:]))
	if is := binary.NativeEndian.Uint64(head[:]); is != id || pages > w.end-id {
		return nil, fmt.Errorf("is damaged: it says that it is page %d, and %d long", is, pages)
	}
	for i := range pages {
		if w.seen[id+i] {
			return nil, fmt.Errorf("is used twice")
		}
		w.seen[id+i] = true
	}
	content := make([]byte, pages*w.pageSize)
	_, err := w.file.ReadAt(content, int64(id*w.pageSize))
	return content, err
}

// entries checks the entries of a page; a page inside a bucket's entry has no id.
func (w *pageWalk) entries(page []byte) error {
	if len(page) < pageHead {
		return fmt.Errorf("holds a bucket that is cut short")
	}
	kind, count := binary.NativeEndian.Uint16(page[8:]), int(binary.NativeEndian.Uint16(page[10:]))
	if kind != branchPage && kind != leafPage || kind == branchPage && count == 0 || pageHead+count*entryHead > len(page) {
		return fmt.Errorf("is damaged: kind %d with %d entries", kind, count)
	}
	for i := range count {
		entry := page[pageHead+i*entryHead:]
		if err := w.entry(entry, kind); err != nil {
			return fmt.Errorf("→ %w", err)
		}
	}
	return nil
}

// entry checks the entry at the start of b, which must fit in b.
func (w *pageWalk) entry(b []byte, kind uint16) error {
	word := func(i int) uint64 { return uint64(binary.NativeEndian.Uint32(b[4*i:])) }
	if kind == branchPage {
		if word(0)+word(1) > uint64(len(b)) {
			return fmt.Errorf("a key of %d bytes, outside the page", word(1))
		}
		return w.page(binary.NativeEndian.Uint64(b[8:]))
	}
	start, end := word(1)+word(2), word(1)+word(2)+word(3)
	if end > uint64(len(b)) {
		return fmt.Errorf("an entry of %d and %d bytes, outside the page", word(2), word(3))
	}
	if word(0)&bucketEntry == 0 {
		return nil
	}
	return w.bucket(b[start:end])
}

// bucket checks a bucket, whose root is a page or follows its head.
func (w *pageWalk) bucket(b []byte) error {
	if len(b) < bucketHead {
		return fmt.Errorf("a bucket of %d bytes", len(b))
	}
	if root := binary.NativeEndian.Uint64(b); root != 0 {
		return w.page(root)
	}
	return w.entries(b[bucketHead:])
}
