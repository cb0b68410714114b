// Package store is the vocabulary of teamdata: its types, its rules, its error
// codes, its ids and cursors, and the contract that a storage engine keeps.
//
// Everything else speaks in these terms. The APIs (server, admin) and the
// dispatcher (delivery) read and write through [Store] and [Tx]; an engine
// (boltstore) implements them; storetest holds every engine to them.
//
// A rule that spans records, such as "adding a member writes the member, its
// audit entry, its event and every delivery of that event", is a function of
// this package over Tx. It is written once, so that a second engine can't
// drift, and it checks everything before its first write.
//
// # What an engine promises
//
//   - Update is atomic and durable: after it returned nil, all its writes
//     survive a crash at any instant; after an error, none of them is there.
//   - View sees only what is on the disk: no answer says of a write that it is so
//     which a power cut can still take away.
//   - Positions rise: the createdAt and id that an engine gives to a list item
//     are strictly greater than those of every item that the same list ever
//     had, also when the clock steps back. Nothing is ever saved behind a
//     cursor that was handed out.
//   - Readers never stall writers, and see one moment.
//   - Closures may run more than once, and do no network.
package store
