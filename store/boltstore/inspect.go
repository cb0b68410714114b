package boltstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"go.etcd.io/bbolt"
)

// absent is the size of a file that does not exist.
const absent = -1

// inspect looks at a file before it is opened for writing. bbolt maps the file,
// so a page that is missing at its end would end the process when it is
// touched.
func inspect(path string) (size int64, err error) {
	size, err = sizeOf(path)
	if err != nil || size <= 0 {
		return size, err
	}
	db, err := bbolt.Open(path, fileMode, &bbolt.Options{Timeout: lockTimeout, ReadOnly: true})
	if err != nil {
		return 0, explain(path, err)
	}
	defer db.Close()
	return size, db.View(func(bolt *bbolt.Tx) error {
		if want := bolt.Size(); want > size {
			return fmt.Errorf("data file %s is cut short: it has %d bytes and needs %d; put back a backup", path, size, want)
		}
		return nil
	})
}

// sizeOf is how many bytes a file has, or absent.
func sizeOf(path string) (size int64, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return absent, checkFolder(path)
	case err != nil:
		return 0, explain(path, err)
	case info.IsDir():
		return 0, fmt.Errorf("data file %s is a folder; give the path of a file, such as %s", path, filepath.Join(path, "teamdata.db"))
	}
	return info.Size(), nil
}

func checkFolder(path string) error {
	folder := filepath.Dir(path)
	switch info, err := os.Stat(folder); {
	case err == nil && !info.IsDir():
		return fmt.Errorf("data file %s can't be made: %s is not a folder; give another path with --data", path, folder)
	case err != nil:
		return fmt.Errorf("data file %s can't be made: there is no folder %s; make it with: mkdir -p %s", path, folder, folder)
	}
	return nil
}
