package boltstore

import (
	"cmp"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"teamdata/store/boltstore/boltfile"
)

// ErrOlderSchema is the cause of an error about a file that must first be
// migrated, by Open.
var ErrOlderSchema = errors.New("has an older schema")

// Check checks a data file that no program has open for damage: the pages with
// bbolt's own check, the form of each record, and each index against its records,
// both ways. found is called with a line for each fault. The error is why the
// file can't be checked.
func Check(path string, found func(fault string)) error {
	return checkFile(path, found, nil, olderSchema)
}

// olderSchema is the error about a file that must first be migrated; nil: it is up to
// date.
func olderSchema(version uint64) error {
	if version >= schemaVersion() {
		return nil
	}
	return &boltfile.Error{
		Text:   fmt.Sprintf("%v: %d, and this teamdata reads %d", ErrOlderSchema, version, schemaVersion()),
		Advice: "serve it once", Err: ErrOlderSchema,
	}
}

// verify is Check for a file of any known schema; in an older one it checks only
// the pages. Faults are an error.
func verify(path string) error { return verifyInSteps(path, nil) }

// verifyInSteps is verify, and calls step after each page and record.
func verifyInSteps(path string, step func()) error {
	var first string
	faults := 0
	count := func(fault string) {
		if faults++; faults == 1 {
			first = fault
		}
	}
	err := checkFile(path, count, step, func(version uint64) error {
		if version == 0 {
			return &boltfile.Error{Text: "is empty", Advice: "restore a backup, or give another file with --data"}
		}
		return nil
	})
	if err == nil && faults > 0 {
		return &boltfile.Error{Path: path, Text: fmt.Sprintf("is damaged: %d faults, the first: %s", faults, first)}
	}
	return err
}

func checkFile(path string, found func(fault string), step func(), refuse func(version uint64) error) error {
	return boltfile.Read(path, func(db *bbolt.DB) error {
		if _, err := boltfile.WalkPages(db, step); err != nil {
			found(fmt.Sprintf("page %v", err)) // nothing can be read beyond this
			return nil
		}
		version, err := schemaOf(db)
		if err == errDamaged {
			found("the file " + errDamaged.Text)
			version, err = schemaVersion(), nil
		}
		if err = cmp.Or(err, refuse(version)); err != nil {
			return err
		}
		err = boltfile.GuardPages(func() error {
			return db.View(func(bolt *bbolt.Tx) error {
				checkAll(bolt, version, found, step)
				return nil
			})
		})
		if damaged := (*boltfile.Error)(nil); errors.As(err, &damaged) {
			found("a page " + damaged.Text)
		}
		return nil
	})
}

func checkAll(bolt *bbolt.Tx, version uint64, found func(string), step func()) {
	c := checker{bolt: bolt, found: found, step: step}
	if err := boltfile.Check(bolt, step, func(fault string) { found("page: " + fault) }); err != nil {
		found(fmt.Sprintf("page %v", err))
	}
	if version < schemaVersion() {
		return
	}
	if err := c.rows(rowKinds); err != nil {
		found(err.Error())
	}
	c.deliveryCounts()
}

// checker compares each record with its entries in the indexes. If the counts are
// equal and each entry of one side is in the other, both are the same.
type checker struct {
	bolt  *bbolt.Tx
	found func(fault string)
	step  func() // called after each record and entry; nil: nothing is
}

func (c *checker) fault(format string, args ...any) { c.found(fmt.Sprintf(format, args...)) }

// each goes through a bucket, and returns how much it has. One that an earlier teamdata did
// not have is nil, and empty, see hasBuckets.
func (c *checker) each(b *bbolt.Bucket, fn func(key, value []byte)) (n int) {
	if b == nil {
		return 0
	}
	cursor := b.Cursor()
	for key, value := cursor.First(); key != nil; key, value = cursor.Next() {
		fn(key, value)
		if n++; c.step != nil {
			c.step()
		}
	}
	return n
}
