package power_test

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// diskOp is one step of what becomes of a disk.
type diskOp struct {
	at     time.Time
	phase  string
	kind   opKind
	inode  int    // 0: names of a folder
	folder string // of the names
	offset int64
	data   []byte
	name   string // gets the inode
	gone   string // is no more
	sync   int    // what a begin and an end have in common
}

type opKind int

const (
	opWrite    opKind = iota + 1
	opTruncate        // to offset
	opName
	opSyncBegin
	opSyncEnd
)

// reader makes steps out of calls. A call that it does not know ends the test.
type reader struct {
	*recording
	ops    []diskOp
	names  map[string]int               // inodes, by their names while the program runs
	inodes int                          // that there were so far
	open   map[trace]map[string]*opened // by the number of the open file
	syncs  int
}

type opened struct {
	inode  int
	offset int64
}

func (r *recording) read() []diskOp {
	re := &reader{recording: r, names: map[string]int{}, open: map[trace]map[string]*opened{}}
	for _, c := range r.calls() {
		re.call(&c)
	}
	slices.SortStableFunc(re.ops, func(a, b diskOp) int { return cmp.Compare(a.at.UnixNano(), b.at.UnixNano()) })
	return re.ops
}

func (r *reader) add(c *call, at time.Time, op diskOp) {
	op.at, op.phase = at, c.trace.phase
	r.ops = append(r.ops, op)
}

func (r *reader) inside(path string) bool { return strings.HasPrefix(path, r.folder+"/") }

func (r *reader) call(c *call) {
	if c.failed() {
		return
	}
	switch c.name {
	case "openat":
		r.opens(c)
	case "rename", "renameat", "renameat2", "link", "linkat", "unlink", "unlinkat":
		r.renames(c)
	default:
		r.onFile(c)
	}
}

func (r *reader) opens(c *call) {
	path, number := c.text(1), numberOf(c.result)
	if r.open[c.trace] == nil {
		r.open[c.trace] = map[string]*opened{}
	}
	delete(r.open[c.trace], number)
	if !r.inside(path) {
		return
	}
	inode, there := r.names[path]
	if !there && strings.Contains(c.args[2], "O_CREAT") {
		r.inodes++
		inode = r.inodes
		r.names[path] = inode
		r.add(c, c.end, diskOp{kind: opName, folder: filepath.Dir(path), name: path, inode: inode})
	} else if there && strings.Contains(c.args[2], "O_TRUNC") {
		r.add(c, c.end, diskOp{kind: opTruncate, inode: inode})
	}
	r.open[c.trace][number] = &opened{inode: inode}
}

func (r *reader) renames(c *call) {
	var paths []string
	for i, arg := range c.args {
		if strings.HasPrefix(arg, `"`) {
			paths = append(paths, c.text(i))
		}
	}
	from, to := paths[0], paths[len(paths)-1]
	inode, there := r.names[from]
	if !there {
		return // not a file of the folder
	}
	op := diskOp{kind: opName, folder: filepath.Dir(from), inode: inode}
	if !strings.HasPrefix(c.name, "unlink") {
		op.name, r.names[to] = to, inode
	}
	if !strings.HasPrefix(c.name, "link") {
		op.gone = from
		delete(r.names, from)
	}
	r.add(c, c.end, op)
}

// onFile is a call whose first argument is an open file.
func (r *reader) onFile(c *call) {
	if !slices.ContainsFunc(c.args, r.isOurs) {
		return
	}
	f := r.open[c.trace][numberOf(c.args[0])]
	if f == nil {
		f = &opened{} // a folder
	}
	switch c.name {
	case "fsync", "fdatasync":
		r.sync(c, diskOp{inode: f.inode, folder: nameOf(c.args[0])})
	case "lseek":
		f.offset = number(c.result)
	case "ftruncate":
		r.add(c, c.begin, diskOp{kind: opTruncate, inode: f.inode, offset: number(c.args[1])})
	case "write":
		r.add(c, c.begin, diskOp{kind: opWrite, inode: f.inode, offset: f.offset, data: r.written(c)})
		f.offset += number(c.result)
	case "pwrite64":
		r.add(c, c.begin, diskOp{kind: opWrite, inode: f.inode, offset: number(c.args[3]), data: r.written(c)})
	default:
		r.t.Fatalf("this test does not know what %s does", c.name)
	}
}

// isOurs reports whether an argument is a file in the folder, or the folder.
func (r *reader) isOurs(arg string) bool {
	path := nameOf(arg)
	return r.inside(path) || path == r.folder
}

func (r *reader) sync(c *call, op diskOp) {
	r.syncs++
	op.sync = r.syncs
	op.kind = opSyncBegin
	r.add(c, c.begin, op)
	op.kind = opSyncEnd
	r.add(c, c.end, op)
}

func (r *reader) written(c *call) []byte {
	data := c.text(1)
	if int64(len(data)) != number(c.result) {
		r.t.Fatalf("%s wrote %s bytes of %d", c.name, c.result, len(data))
	}
	return []byte(data)
}
