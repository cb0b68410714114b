package operator

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"syscall"

	"teamdata/internal/atomicfile"
	"teamdata/internal/hint"
	"teamdata/internal/system"
	"teamdata/store"
)

// tailState is what a cursor file holds, as JSON.
type tailState struct {
	Format string            `json:"format"`
	Of     tailSource        `json:"of"`
	Bytes  int64             `json:"bytes"` // of the output, which the positions cover
	At     map[string]string `json:"at"`    // the position in each org's log
}

// tailSource is what tells one tail from another.
type tailSource struct {
	From   string `json:"from"`
	Org    string `json:"org"`
	Actor  string `json:"actor"`
	Action string `json:"action"`
	Target string `json:"target"`
	Output string `json:"output"`
}

const tailFormat = "teamdata audit tail 1"

func (t *tail) source() tailSource {
	set := t.op.fieldsSet(t.cmd.Flags())
	text := func(name string) string { return fmt.Sprint(cmp.Or(set[name], any(""))) }
	of := tailSource{From: t.target.place(), Org: t.org, Actor: text("actor"), Action: text("action"), Target: text("target")}
	if t.output != "" {
		of.Output = absolute(t.output)
	}
	return of
}

// load reads the positions from the cursor file, and from the lines of the output that it
// does not cover.
func (t *tail) load() error {
	t.at = map[string]store.Cursor{}
	if t.cursorFile == "" && t.output != "" {
		t.cursorFile = t.output + ".cursor"
	}
	if t.cursorFile == "" {
		return nil
	}
	var err error
	if t.output != "" { // first, since another tail that ends may still save its positions
		if t.to, err = openTailed(t.output); err != nil {
			return err
		}
	}
	covered, err := t.loadCursors()
	if err == nil && t.to != nil {
		err = t.to.resume(covered, t.at)
	}
	if err != nil {
		return err
	}
	return t.save() // so that one that can't be written is found before the first line
}

// maxCursors are the bytes that a cursor file may have.
const maxCursors = 256 << 20

func (t *tail) loadCursors() (covered int64, err error) {
	f, err := os.Open(t.cursorFile)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, hint.With(fmt.Errorf("--cursor-file: %w", err), "name another file")
	}
	defer f.Close()
	var kept tailState
	content, err := io.ReadAll(io.LimitReader(f, maxCursors))
	if err != nil || json.Unmarshal(content, &kept) != nil || kept.Format != tailFormat {
		return 0, hint.New(t.cursorFile+" is not a cursor file of audit tail", "name another with --cursor-file")
	}
	if of := t.source(); kept.Of != of {
		was, _ := json.Marshal(kept.Of)
		is, _ := json.Marshal(of)
		return 0, hint.New(fmt.Sprintf("%s is the cursor file of another tail: that is %s, and this one is %s", t.cursorFile, was, is),
			"name another with --cursor-file, or delete it to begin anew")
	}
	for org, text := range kept.At {
		at, ok := store.ParseCursor(text)
		if !ok {
			return 0, hint.New(fmt.Sprintf("%s: %q is not a position of org %q", t.cursorFile, text, org), "delete the file to begin anew")
		}
		t.at[org] = at
	}
	return kept.Bytes, nil
}

// save keeps the positions, if they are not the same as saved before.
func (t *tail) save() error {
	if t.cursorFile == "" || maps.Equal(t.at, t.saved.at) && t.saved.at != nil && t.saved.bytes == t.to.covered() {
		return nil
	}
	kept := tailState{Format: tailFormat, Of: t.source(), Bytes: t.to.covered(), At: map[string]string{}}
	for org, at := range t.at {
		kept.At[org] = at.String()
	}
	content, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	err = atomicfile.Create(t.cursorFile, true, func(w io.Writer) error {
		_, err := w.Write(append(content, '\n'))
		return err
	})
	if err != nil {
		return hint.With(fmt.Errorf("--cursor-file: %w", err), "name a file in a folder that can be written to")
	}
	t.saved.at, t.saved.bytes = maps.Clone(t.at), kept.Bytes
	return nil
}

// prepare makes the output anew if it was renamed or deleted. There are no lines then, so the
// positions are those of what is written.
func (t *tail) prepare() error {
	if t.to == nil || t.to.isInPlace() {
		return nil
	}
	to, err := openTailed(t.output)
	if err != nil {
		return err
	}
	err = t.to.Close()
	t.to = to
	return errors.Join(err, t.to.resume(0, t.at), t.save())
}

func (t *tail) close() {
	if t.to != nil {
		t.to.Close()
	}
}

// tailed is a file to which a tail appends whole lines.
type tailed struct {
	*os.File
	size int64
}

func (o *tailed) covered() int64 {
	if o == nil {
		return 0
	}
	return o.size
}

func openTailed(path string) (*tailed, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, hint.With(fmt.Errorf("--output: %w", err), "name a file in a folder that can be written to")
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(hint.New("--output: "+path+" is not a regular file", "leave out --output for the standard output"), err, f.Close())
	}
	if system.LockFile(f) {
		f.Close()
		return nil, hint.New("--output: another audit tail writes to "+path, "end that one, or name another file")
	}
	return &tailed{File: f}, nil
}

// isInPlace reports whether the file still has its name.
func (o *tailed) isInPlace() bool {
	named, err := os.Stat(o.Name())
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR)
	}
	opened, err := o.Stat()
	return err == nil && os.SameFile(named, opened)
}

// append writes lines, and waits until they are on the disk.
func (o *tailed) append(lines []byte) error {
	if len(lines) == 0 {
		return nil
	}
	_, err := o.Write(lines)
	if err == nil {
		err = o.Sync()
	}
	info, errSize := o.Stat() // it may have been truncated by others
	if err = errors.Join(err, errSize); err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	o.size = info.Size()
	return nil
}

// tailLine is more bytes than the line of an entry can have.
const tailLine = 64 << 10

// resume moves the positions past the lines behind those that are covered, and cuts a torn
// last line, which may end in NULs. A file that is smaller was made anew, and is read as a
// whole.
func (o *tailed) resume(covered int64, at map[string]store.Cursor) error {
	info, err := o.Stat()
	if err != nil {
		return err
	}
	before := []byte{'\n'}
	if covered > info.Size() {
		covered = 0
	} else if covered > 0 {
		if _, err = o.ReadAt(before, covered-1); err != nil {
			return err
		}
	}
	if before[0] != '\n' {
		covered = 0
	}
	o.size = covered
	end, err := o.withoutNULs(covered, info.Size())
	if err != nil {
		return err
	}
	in := bufio.NewReaderSize(io.NewSectionReader(o, covered, end-covered), tailLine)
	for {
		line, err := in.ReadSlice('\n')
		switch {
		case err == io.EOF && len(line) == 0 && end == info.Size():
			return nil
		case err == io.EOF && startsEntry(line):
			return os.Truncate(o.Name(), o.size) // Windows can't do it by a file that is open to append
		}
		org, position, ok := positionInLine(line)
		if err != nil || !ok {
			return hint.New(fmt.Sprintf("--output: %s holds something else than audit entries, at byte %d", o.Name(), o.size), "name another file")
		}
		if at[org].Compare(position) < 0 {
			at[org] = position
		}
		o.size += int64(len(line))
	}
}

// withoutNULs is where a file ends without the NULs that a power loss leaves in the place of
// what was written last.
func (o *tailed) withoutNULs(covered, size int64) (end int64, err error) {
	last := make([]byte, min(size-covered, tailWrite+tailLine))
	_, err = o.ReadAt(last, size-int64(len(last)))
	return size - int64(len(last)-len(bytes.TrimRight(last, "\x00"))), err
}

// startsEntry reports whether a part of a line may be of an entry.
func startsEntry(part []byte) bool {
	const start = `{"orgId":"`
	return bytes.HasPrefix([]byte(start), part) || bytes.HasPrefix(part, []byte(start))
}
