// Package rows is what a storage engine keeps: rows of bytes in order of their keys,
// with entries in up to four indexes each. It has the contract of an engine ([Rows]),
// the form of a record ([Codec]) and of its secrets ([Sealing]), what is the same for
// every noun that is kept ([Table]), and how what is kept is checked ([Checker]).
// A noun's own table stands beside its rules, in package store.
//
// It exports more than 40 names because nouns and engines both are made of them: the
// parts of keys and records for the ones, of rows and ranges for the others.
//
// It imports nothing of teamdata, and neither rules nor engines have names here.
package rows
