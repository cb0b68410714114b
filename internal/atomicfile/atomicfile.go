// Package atomicfile writes files of which nobody ever sees half: each has its name
// only once it is whole.
package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Write writes a file, in the place of one that is there.
func Write(path string, content []byte, mode fs.FileMode) error {
	return write(path, mode, os.Rename, func(f *os.File) error {
		_, err := f.Write(content)
		return err
	})
}

// Create has a file written that only this user can open, and that is on the disk
// before it has its name. Without force it takes the place of no other.
func Create(path string, force bool, fill func(io.Writer) error) error {
	place := os.Rename
	if !force {
		place = link
	}
	if _, err := os.Lstat(path); err == nil && !force {
		return alreadyThere(path)
	}
	return write(path, 0o600, place, func(f *os.File) error {
		if err := fill(f); err != nil {
			return err
		}
		return f.Sync()
	})
}

// write has a file filled beside its path, and then put there.
func write(path string, mode fs.FileMode, place func(temp, path string) error, fill func(*os.File) error) error {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // with mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // does nothing once it has its place
	if err := errors.Join(fill(temp), temp.Chmod(mode), temp.Close()); err != nil {
		return err
	}
	return place(temp.Name(), path)
}

// link gives a file a name that is free.
func link(temp, path string) error {
	err := os.Link(temp, path) // which takes nobody's place
	if errors.Is(err, fs.ErrExist) {
		return alreadyThere(path)
	}
	if err != nil { // there are no hard links here
		err = os.Rename(temp, path)
	}
	return err
}

func alreadyThere(path string) error {
	return fmt.Errorf("there is a file %s already; give another name, or write over it with --force", path)
}
