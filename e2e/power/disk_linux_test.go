package power_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A disk that loses its power keeps what was synced. Of what came later it may have
// any part: writes without those before them, and of a write any of its sectors;
// names that were given, changed or taken away, without one another. A name is synced
// with its folder alone.

const (
	pageSize   = 4096
	sectorSize = 512
)

// image is what is in a file: its pages, and zeros where there is none.
type image struct {
	size  int64
	pages map[int64][]byte
}

func (m *image) write(offset int64, data []byte) {
	m.size = max(m.size, offset+int64(len(data)))
	for len(data) > 0 {
		page, from := offset/pageSize, offset%pageSize
		n := min(pageSize-from, int64(len(data)))
		whole := data[:n]
		if n < pageSize {
			whole = make([]byte, pageSize)
			copy(whole, m.pages[page])
			copy(whole[from:], data[:n])
		}
		m.pages[page] = whole
		offset, data = offset+n, data[n:]
	}
}

func (m *image) truncate(size int64) {
	for page := range m.pages {
		if page*pageSize >= size {
			delete(m.pages, page)
		}
	}
	if rest := size % pageSize; rest > 0 && size < m.size {
		m.write(size, make([]byte, pageSize-rest))
	}
	m.size = size
}

func (m *image) save(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	for page, content := range m.pages {
		if _, err := f.WriteAt(content, page*pageSize); err != nil {
			return err
		}
	}
	return f.Truncate(m.size)
}

// disk is a disk at one moment.
type disk struct {
	files map[int]*diskFile
	names map[string]*folderNames // by folder
	ends  map[int]int             // of syncs that run: up to where what is pending is synced with them
}

type diskFile struct {
	image
	pending []diskOp
	synced  int // how many of all changes are in the image
}

type folderNames struct {
	inodes  map[string]int
	pending []diskOp
	synced  int
}

// after is the disk when the steps were done. Syncs that are left out do nothing.
func after(ops []diskOp, leftOut map[int]bool) *disk {
	d := &disk{map[int]*diskFile{}, map[string]*folderNames{}, map[int]int{}}
	for _, op := range ops {
		if !leftOut[op.sync] {
			d.do(op)
		}
	}
	return d
}

func (d *disk) file(inode int) *diskFile {
	if d.files[inode] == nil {
		d.files[inode] = &diskFile{image: image{pages: map[int64][]byte{}}}
	}
	return d.files[inode]
}

func (d *disk) folder(path string) *folderNames {
	if d.names[path] == nil {
		d.names[path] = &folderNames{inodes: map[string]int{}}
	}
	return d.names[path]
}

func (d *disk) do(op diskOp) {
	switch op.kind {
	case opWrite, opTruncate:
		f := d.file(op.inode)
		f.pending = append(f.pending, op)
	case opName:
		f := d.folder(op.folder)
		f.pending = append(f.pending, op)
	case opSyncBegin:
		d.ends[op.sync] = d.file(op.inode).synced + len(d.file(op.inode).pending)
		if op.inode == 0 {
			d.ends[op.sync] = d.folder(op.folder).synced + len(d.folder(op.folder).pending)
		}
	case opSyncEnd:
		d.synced(op)
	}
}

func (d *disk) synced(op diskOp) {
	if op.inode == 0 {
		f := d.folder(op.folder)
		for ; f.synced < d.ends[op.sync]; f.synced++ {
			f.apply(f.pending[0])
			f.pending = f.pending[1:]
		}
		return
	}
	f := d.file(op.inode)
	for ; f.synced < d.ends[op.sync]; f.synced++ {
		f.apply(f.pending[0])
		f.pending = f.pending[1:]
	}
}

func (m *image) apply(op diskOp) {
	if op.kind == opTruncate {
		m.truncate(op.offset)
		return
	}
	m.write(op.offset, op.data)
}

func (f *folderNames) apply(op diskOp) {
	delete(f.inodes, op.gone)
	if op.name != "" {
		f.inodes[op.name] = op.inode
	}
}

// cutPower leaves of what was not synced what it happens to leave.
func (d *disk) cutPower(random *rand.Rand) {
	for _, inode := range slices.Sorted(maps.Keys(d.files)) {
		f := d.files[inode]
		for _, i := range left(random, len(f.pending)) {
			f.applyTorn(random, f.pending[i])
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(d.names)) {
		f := d.names[folder]
		for _, i := range left(random, len(f.pending)) {
			f.apply(f.pending[i])
		}
	}
}

// keepAll leaves all of it.
func (d *disk) keepAll() {
	for _, f := range d.files {
		for _, op := range f.pending {
			f.apply(op)
		}
	}
	for _, f := range d.names {
		for _, op := range f.pending {
			f.apply(op)
		}
	}
}

// left are those of n changes that the disk has, in their order.
func left(random *rand.Rand, n int) (of []int) {
	one := random.IntN(max(n, 1))
	draw := []func(i int) bool{
		func(int) bool { return false },
		func(int) bool { return true },
		func(i int) bool { return i < one },
		func(i int) bool { return i != one },
		func(i int) bool { return i == one },
		func(int) bool { return random.IntN(2) == 0 },
	}[random.IntN(6)]
	for i := range n {
		if draw(i) {
			of = append(of, i)
		}
	}
	return of
}

// applyTorn applies a change, or each of the sectors of a write or not.
func (m *image) applyTorn(random *rand.Rand, op diskOp) {
	if op.kind == opTruncate || random.IntN(3) > 0 {
		m.apply(op)
		return
	}
	for at := 0; at < len(op.data); {
		end := min(at+sectorSize-int(op.offset+int64(at))%sectorSize, len(op.data))
		if random.IntN(2) == 0 {
			m.write(op.offset+int64(at), op.data[at:end])
		}
		at = end
	}
}

// save writes the disk's files to a folder, in the place of the one from which they
// were recorded.
func (d *disk) save(t *testing.T, recorded, folder string) {
	t.Helper()
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, f := range d.names {
		for name, inode := range f.inodes {
			rest, err := filepath.Rel(recorded, name)
			if err == nil {
				err = os.MkdirAll(filepath.Dir(filepath.Join(folder, rest)), 0o700)
			}
			if err == nil {
				err = d.file(inode).save(filepath.Join(folder, rest))
			}
			if err != nil {
				t.Fatal(fmt.Errorf("a state can't be written: %w", err))
			}
		}
	}
}
