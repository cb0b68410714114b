package boltfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"os"

	"go.etcd.io/bbolt"
)

// bbolt stores a list of the free pages in the file. Once much has been deleted,
// writing the list costs more than the rest of a commit, so it is written rarely,
// and on Close. After a crash it is missing: Open then finds the free pages and
// writes the list before bbolt opens the file, since bbolt's own search compares
// every key and takes many times as long.

// The file has two heads, one in each of its first pages: the newer one that is not
// damaged is valid. Offsets are in bytes from the start of the page.
const (
	headMagicAt    = 16
	headPageSizeAt = 24
	headRootAt     = 32
	headListAt     = 48
	headEndAt      = 56
	headCommitAt   = 64
	headSumAt      = 72
	headEnd        = 80

	headMagic = 0xED0CDAED
	noList    = math.MaxUint64
)

// freelistKind is the kind of the first page of a list. A list too long for the count
// in its page's head begins with its length.
const (
	freelistKind = 0x10
	countsMany   = math.MaxUint16
)

type head struct {
	bytes    []byte
	pageSize uint64
	root     uint64 // page of the root bucket
	list     uint64 // first page of the list of free pages; noList: none
	end      uint64 // number of pages, free ones included
	commit   uint64 // number of the commit
}

var errHead = errors.New("the head is damaged")

// readHead reads the valid head. If the first is damaged, where the other one is tells the
// size of a page.
func readHead(r io.ReaderAt) (head, error) {
	newest, found := headAt(r, 0)
	for size := uint64(1 << 10); size <= 1<<24; size *= 2 {
		if found && newest.pageSize != size {
			continue
		}
		if h, sound := headAt(r, int64(size)); sound && h.pageSize == size && (!found || h.commit > newest.commit) {
			newest, found = h, true
		}
	}
	if !found {
		return head{}, errHead
	}
	return newest, nil
}

// headOf reads the head of the commit that a transaction sees.
func headOf(r io.ReaderAt, bolt *bbolt.Tx) (head, error) {
	for i := range int64(2) {
		h, sound := headAt(r, i*int64(bolt.DB().Info().PageSize))
		if sound && h.commit == uint64(bolt.ID()) {
			return h, nil
		}
	}
	return head{}, errHead
}

// hasFreelist reports whether there is a file with a list.
func hasFreelist(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	h, err := readHead(file)
	return err == nil && h.list != noList
}

func headAt(r io.ReaderAt, offset int64) (h head, sound bool) {
	b := make([]byte, headEnd)
	if _, err := r.ReadAt(b, offset); err != nil {
		return h, false
	}
	word := func(at int) uint64 { return binary.NativeEndian.Uint64(b[at:]) }
	h = head{
		bytes: b, pageSize: uint64(binary.NativeEndian.Uint32(b[headPageSizeAt:])),
		root: word(headRootAt), list: word(headListAt), end: word(headEndAt), commit: word(headCommitAt),
	}
	return h, binary.NativeEndian.Uint32(b[headMagicAt:]) == headMagic && word(headSumAt) == headSum(b) && h.pageSize >= headEnd
}

func headSum(b []byte) uint64 {
	sum := fnv.New64a()
	sum.Write(b[headMagicAt:headSumAt])
	return sum.Sum64()
}

// next returns the head of the next commit, with a list at a page.
func (h head) next(list, end uint64) head {
	n := head{bytes: bytes.Clone(h.bytes), pageSize: h.pageSize, root: h.root, list: list, end: end, commit: h.commit + 1}
	for at, word := range map[int]uint64{0: n.commit % 2, headListAt: list, headEndAt: end, headCommitAt: n.commit} {
		binary.NativeEndian.PutUint64(n.bytes[at:], word)
	}
	binary.NativeEndian.PutUint64(n.bytes[headSumAt:], headSum(n.bytes))
	return n
}

// prepareFreelist locks a file and makes sure that it has a list. That bbolt locks the
// same open file again does no harm.
func prepareFreelist(file *os.File, sync bool) error {
	err := awaitLock(file)
	if err == nil {
		err = restoreFreelist(file, sync)
	}
	if errors.Is(err, errors.ErrUnsupported) || IsFull(err) {
		err = nil // bbolt then searches, which takes longer
	}
	if err != nil {
		file.Close()
	}
	return err
}

// restoreFreelist writes the list of free pages of a file that has none, in a commit of
// its own: no page of the last commit is overwritten. The file must be locked.
func restoreFreelist(file *os.File, sync bool) error {
	h, err := readHead(file)
	if err != nil || h.list != noList {
		return nil // bbolt reports what is wrong with the head
	}
	free, err := findFree(file, h)
	if err != nil {
		return &Error{Text: fmt.Sprintf("is damaged: page %v", err), Advice: "restore a backup with: teamdata restore", Err: errPage}
	}
	size := (pageHead+8+8*uint64(len(free)))/h.pageSize + 1 // in pages
	at, end := h.end, h.end+size
	if i := findRun(free, size); i >= 0 {
		at, end, free = free[i], h.end, append(free[:i:i], free[i+int(size):]...)
	}
	flush := file.Sync
	if !sync {
		flush = func() error { return nil }
	}
	if _, err = file.WriteAt(freelist(at, size, h.pageSize, free), int64(at*h.pageSize)); err != nil {
		return err
	}
	if err = flush(); err != nil {
		return err
	}
	n := h.next(at, end)
	if _, err = file.WriteAt(n.bytes, int64(n.commit%2*h.pageSize)); err != nil {
		return err
	}
	return flush()
}

// findFree returns the pages that the last commit doesn't use, in ascending order.
func findFree(file *os.File, h head) (free []uint64, err error) {
	read, unmap, err := mapFile(file)
	if err != nil {
		return nil, err
	}
	defer unmap()
	w := newPageWalk(read, h)
	if err = GuardPages(func() error { return w.page(h.root) }); err != nil {
		return nil, err
	}
	free = make([]uint64, 0, h.end-2-w.used)
	for id := uint64(2); id < h.end; id++ {
		if !w.isSeen(id) {
			free = append(free, id)
		}
	}
	return free, nil
}

// findRun returns the index in free at which size consecutive pages begin, or -1.
func findRun(free []uint64, size uint64) int {
	first := 0
	for i, id := range free {
		if id-free[first] != uint64(i-first) {
			first = i
		}
		if uint64(i-first)+1 == size {
			return first
		}
	}
	return -1
}

// freelist returns the content of a list's pages.
func freelist(at, size, pageSize uint64, free []uint64) []byte {
	b := make([]byte, 0, size*pageSize)
	b = binary.NativeEndian.AppendUint64(b, at)
	b = binary.NativeEndian.AppendUint16(b, freelistKind)
	b = binary.NativeEndian.AppendUint16(b, uint16(min(len(free), countsMany)))
	b = binary.NativeEndian.AppendUint32(b, uint32(size-1))
	if len(free) >= countsMany {
		b = binary.NativeEndian.AppendUint64(b, uint64(len(free)))
	}
	for _, id := range free {
		b = binary.NativeEndian.AppendUint64(b, id)
	}
	return b[:size*pageSize]
}

// readFreelistLen reads the length of the list.
func readFreelistLen(r io.ReaderAt, h head) (int64, error) {
	b := make([]byte, pageHead+8)
	if _, err := r.ReadAt(b, int64(h.list*h.pageSize)); err != nil {
		return 0, err
	}
	if n := binary.NativeEndian.Uint16(b[10:]); n < countsMany {
		return int64(n), nil
	}
	return int64(binary.NativeEndian.Uint64(b[pageHead:])), nil
}
