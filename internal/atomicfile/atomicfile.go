// Package atomicfile writes files that are never seen half written: a file gets its
// name only once it is complete.
//
// It imports hint and system alone. Files that are read and written in parts, such as the
// data file, belong elsewhere.
package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"teamdata/internal/hint"
	"teamdata/internal/system"
)

// Write writes a file with a mode, and replaces one that exists. It does not wait
// until the file is on the disk.
func Write(path string, content []byte, mode fs.FileMode) error {
	return write(path, mode, os.Rename, func(f *os.File) error {
		_, err := f.Write(content)
		return err
	})
}

// Create writes a file that only this user can open (mode 0600). The content is
// on disk before the file gets its name, and the name is on disk on return.
// Without force it fails if the file exists.
func Create(path string, force bool, fill func(io.Writer) error) error {
	place := os.Rename
	if !force {
		place = link
	}
	if _, err := os.Lstat(path); err == nil && !force {
		return alreadyThere(path)
	}
	err := write(path, 0o600, place, func(f *os.File) error {
		if err := fill(f); err != nil {
			return err
		}
		return f.Sync()
	})
	if err != nil {
		return err
	}
	return SyncFolder(path)
}

// SyncFolder syncs the names in a file's folder to disk. Windows doesn't allow
// syncing a folder, and orders names itself.
func SyncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// write fills a temporary file beside the path, and then moves it there.
func write(path string, mode fs.FileMode, place func(temp, path string) error, fill func(*os.File) error) error {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // with mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // does nothing once it was moved
	if err := errors.Join(fill(temp), temp.Chmod(mode), temp.Close()); err != nil {
		return err
	}
	return place(temp.Name(), path)
}

// link gives a file a name that does not exist yet.
func link(temp, path string) error {
	err := system.RenameNew(temp, path)
	if errors.Is(err, fs.ErrExist) {
		return alreadyThere(path)
	}
	if err != nil { // this file system has no hard links
		err = os.Rename(temp, path)
	}
	return err
}

func alreadyThere(path string) error {
	return hint.New("the file "+path+" exists already", "give another name, or overwrite it with --force")
}
