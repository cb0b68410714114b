// Package boltstore is the storage engine of teamdata: it implements the contract
// of package store on one bbolt file.
//
// One goroutine writes. Concurrent Updates share its commits: while one batch is
// being synced, the next gathers (writer.go). Inside a batch every write is
// logged with the value that it replaced, so a failed closure is rolled back
// alone (tx.go). Rows that expire are appended, and found by an index in memory
// (expiring.go, keyindex.go). layout.go describes the layout of the file; docs/format.md does
// so for people who have a file and no program.
//
// Nouns whose tables are in package store are kept as rows, of which the file knows
// nothing but keys, values and entries (rows.go, scan.go, checkrows.go). Each other noun
// has a file of the same name as in store, with its transaction methods and its
// consistency check: a new field goes there, and a new bucket also into layout.go. Code
// that would be the same for any bbolt file belongs in boltfile. The package imports
// store, hint, boltfile and bbolt.
package boltstore
