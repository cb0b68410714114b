// Package codec is which fields events, deliveries and their counts have, which are not kept
// by a table of rows yet. All engines share it.
package codec
