//go:build !linux

package doctor

// fileSystem is not known here.
func fileSystem(string) string { return "" }

// clockSynced is not known here.
func clockSynced() (synced, known bool) { return false, false }
