// Package boltfile is a bbolt file as a file: who has it locked, whether its pages
// are sound, and how a whole file is copied, compacted or put in the place of
// another, so that a crash leaves the old file or the new one.
//
// It knows no record and no bucket. Where it has to know whether a file is sound it
// is given a function that says so. It imports bbolt and the standard library alone;
// boltstore is what imports it. What needs a record or a bucket's name belongs
// there, and what would be the same for any other bbolt file belongs here.
package boltfile
