// Package pgstore implements the store contract on PostgreSQL, 14 or newer. It is the
// only package that imports pgx, and of it only pgconn, the connection.
package pgstore
