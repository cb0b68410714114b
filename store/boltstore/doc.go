// Package boltstore is the storage engine of teamdata: the contract of package
// store on one bbolt file.
//
// One goroutine writes. Concurrent Updates share its commits: while one batch
// is being synced, the next gathers (writer.go). Inside a batch every write is
// noted with what it replaced, so that a closure that fails is undone alone
// (tx.go). What is where in the file is said in layout.go and, for people with
// a file and no program, in docs/format.md.
package boltstore
