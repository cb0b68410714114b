package boltstore

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// The layout of a page, as bbolt has it: a head, then the entries. Its fields
// are little-endian on every machine that these tests run on.
const (
	kindAt, countAt, overflowAt = 8, 10, 12 // in a page's head
	entriesAt, entrySize        = 16, 16
	keySizeAt, pageAt           = 4, 8 // in a branch's entry
	valueSizeAt                 = 12   // in a leaf's entry
	branch, leaf, freelist      = 1, 2, 16
	huge                        = 0x70000000
)

// eachPage calls fn with the place of each page of a kind.
func eachPage(content []byte, pageSize, kind int, fn func(at, entries int)) {
	for at := 2 * pageSize; at < len(content); at += pageSize {
		if int(binary.LittleEndian.Uint16(content[at+kindAt:])) == kind {
			fn(at, int(binary.LittleEndian.Uint16(content[at+countAt:])))
		}
	}
}

// TestCheckPageElsewhere leads each entry of each branch page far outside the
// file, where reading would end the process, or back to the page, where it would
// not end.
func TestCheckPageElsewhere(t *testing.T) { eachWellFilled(t, testCheckPageElsewhere) }

func testCheckPageElsewhere(t *testing.T, content []byte, used, pageSize int) {
	content = content[:used]
	path := writeCopy(t, content)
	tried := 0
	eachPage(content, pageSize, branch, func(at, entries int) {
		for i := range entries {
			for _, to := range []int{1 << 30, used / pageSize, 1, at / pageSize} {
				damaged := bytes.Clone(content)
				binary.LittleEndian.PutUint64(damaged[at+entriesAt+i*entrySize+pageAt:], uint64(to))
				if checkCopy(t, path, damaged) == 0 {
					t.Errorf("entry %d of page %d leads to page %d, and nothing is found", i, at/pageSize, to)
				}
				tried++
			}
		}
	})
	if tried == 0 {
		t.Error("there is no branch page")
	}
}

// TestCheckLyingSizes has keys, values and pages say that they lie, or go on, far
// behind the end of the file.
func TestCheckLyingSizes(t *testing.T) {
	content, used, pageSize := wellFilled(t)
	content = content[:used]
	path := writeCopy(t, content)
	for name, lie := range map[string]struct{ kind, at int }{
		"a key's place":       {branch, entriesAt + entrySize},
		"a key's in a branch": {branch, entriesAt + keySizeAt},
		"a value's":           {leaf, entriesAt + valueSizeAt},
		"a branch's":          {branch, overflowAt},
		"a leaf's":            {leaf, overflowAt},
		"the free list's":     {freelist, overflowAt},
	} {
		damaged, tried := bytes.Clone(content), 0
		eachPage(content, pageSize, lie.kind, func(at, entries int) {
			if entries > 0 {
				binary.LittleEndian.PutUint32(damaged[at+lie.at:], huge)
				tried++
			}
		})
		if tried == 0 || checkCopy(t, path, damaged) == 0 {
			t.Errorf("%s size or place lies on %d pages, and nothing is found", name, tried)
		}
	}
}
