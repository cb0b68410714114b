// Package store defines the vocabulary of teamdata: its types, rules, error
// codes, ids and cursors, and the contract of a storage engine.
//
// Everything else builds on these terms. The APIs (server, admin) and the
// dispatcher (delivery) read and write through [Store] and [Tx]. A noun has its table, its
// methods of Tx and its rules in one file. An engine (boltstore, pgstore) knows of it
// nothing but rows, see package rows; storetest holds every engine to the same.
//
// A rule that spans records, such as "adding a member writes the member, its
// audit entry, its event and every delivery of that event", is a function of this
// package over Tx. It is written once, so a second engine can't drift, and it
// checks everything before its first write.
//
// # What an engine promises
//
//   - Update is atomic and durable: after it returns nil, all its writes
//     survive a crash at any instant; after an error, none is stored.
//   - View reads only what is on disk: no answer shows a write that a power cut
//     can still undo.
//   - Positions rise: the createdAt and id that an engine gives to a list item
//     are strictly greater than those of every item that the same list ever
//     had, even when the clock steps back. Nothing is ever inserted behind a
//     cursor that has been handed out.
//   - Updates whose scopes have something in common run one after the other, on
//     whichever node.
//   - Readers never block writers, and see a consistent snapshot.
//   - Closures may run more than once, and do no network I/O.
package store
