//go:build unix

package boltstore

import "testing"

// What the tests of the program as a whole take from the tests of the file.
var NewChild = newChild

// OldFile is a file of a schema before that of a migrating child, and the path of
// the copy that is kept of it.
func OldFile(t *testing.T) (path, kept string) {
	f, kept := oldFile(t)
	return f.path, kept
}

// MigratingChild adds a role of a child whose schema has a made-up step.
func MigratingChild(role string, run func(args []string) error) {
	childRoles[role] = func(args []string) error {
		migrations = madeUp[:1]
		return run(args)
	}
}
