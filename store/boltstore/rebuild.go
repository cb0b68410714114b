package boltstore

import (
	"bytes"
	"context"
	"io"
)

// Rebuild changes the data file at path as a whole, or makes it: fill is called
// with a Store on a copy, which takes the file's place once it is on the disk
// and sound. Until then, whatever fails and whenever the process is killed, path
// is as it was. Meanwhile no server can open it; fill may take long, and its
// commits cost no sync. A file that is in use is refused.
func Rebuild(ctx context.Context, path string, o Options, fill func(*Store) error) error {
	old, err := own(path)
	if err != nil {
		return err
	}
	defer old.release()
	t, err := newTemp(old.path, "rebuild")
	if err != nil {
		return err
	}
	defer t.discard()
	if err := old.copyTo(ctx, t); err != nil {
		return err
	}
	from, err := t.fill(path, o, fill)
	if err != nil {
		return err
	}
	if err := t.finish(ctx, path); err != nil {
		return err
	}
	if from > 0 {
		if err := old.keepOld(from); err != nil {
			return err
		}
	}
	return old.place(t)
}

// copyTo copies the bytes of the old file, which nobody writes.
func (o *owned) copyTo(ctx context.Context, t *temp) error {
	if o.file == nil {
		return nil
	}
	n, err := io.Copy(&holes{pieces{ctx: ctx, file: t.File}}, o.file)
	if err == nil {
		err = t.Truncate(n) // it may end with a hole
	}
	return cantWrite(t.target, err)
}

// holes leaves out what is all zero, as the room is that bbolt takes in advance.
type holes struct{ pieces }

var zeros [32 << 10]byte

func (h *holes) Write(b []byte) (int, error) {
	if len(b) > len(zeros) || !bytes.Equal(b, zeros[:len(b)]) {
		return h.pieces.Write(b)
	}
	h.written += int64(len(b))
	_, err := h.file.Seek(h.written, io.SeekStart)
	return len(b), err
}

// fill opens the file as a Store to be filled, and tells the older schema that it
// was brought up from. Its errors are about name.
func (t *temp) fill(name string, o Options, fill func(*Store) error) (from uint64, err error) {
	o.NoSync = true
	s, err := Open(t.Name(), o)
	if err != nil {
		return 0, about(name, t.Name(), err)
	}
	defer s.Close() // closing twice is harmless
	if err := fill(s); err != nil {
		return 0, err
	}
	from, _ = s.MigratedFrom()
	return from, s.Close()
}
