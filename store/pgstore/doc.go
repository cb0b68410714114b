// Package pgstore implements the store contract on PostgreSQL, 14 or newer. It is the
// only package that imports pgx, and of it only pgconn, the connection.
//
// What nodes have among themselves is in node.go, heartbeat.go, sight.go, moment.go,
// lease.go, shard.go, look.go, seen.go, hint.go; it stands on connections alone (target.go,
// connect.go, pool.go, batch.go, query.go) and knows no transaction. Transactions (store.go,
// group.go, tx.go, overlay.go) and what is read and written in them use both.
package pgstore
