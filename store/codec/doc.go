// Package codec is which fields a record of each noun has, in which order, and which
// of them are sealed. All engines share it.
package codec
