// Package boltstore is the storage engine of teamdata: the contract of package
// store on one bbolt file.
//
// One goroutine writes. Concurrent Updates share its commits: while one batch
// is being synced, the next gathers (writer.go). Inside a batch every write is
// noted with what it replaced, so that a closure that fails is undone alone
// (tx.go). layout.go says what is where in the file, as docs/format.md does for
// people with a file and no program.
//
// A noun has the file that it has in store, with its methods of a transaction, the
// fields of its record and its consistency check: a new field or a new number
// beside a record goes there, and a new bucket into layout.go too. What would be
// the same for any bbolt file belongs in boltfile. The package imports store, hint,
// boltfile and bbolt.
package boltstore
