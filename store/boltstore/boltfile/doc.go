// Package boltfile handles a bbolt file as a whole: locking it, verifying its
// pages, and copying, compacting or replacing it so that a crash leaves either
// the old file or the new one.
//
// It knows no records and no buckets; callers pass a function that verifies a
// file's content. It imports only bbolt and the standard library, and boltstore
// imports it. Code that needs a record or a bucket's name belongs there; code
// that would be the same for any bbolt file belongs here.
package boltfile
