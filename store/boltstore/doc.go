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
// The records of nouns are rows, of which the file knows nothing but keys, values and
// entries (rows.go, scan.go, checkrows.go): their tables are in package store. The counts of
// deliveries, which are added to without being read, have code of their own
// (deliverycounts.go). Code that would be the same for any bbolt file belongs in boltfile.
package boltstore
