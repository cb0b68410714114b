package pgstore

import (
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
)

// Doubts returns how many commits lost their answer: of those that are there, of those
// that are not, and of those of which neither could be learnt in time.
func (s *Store) Doubts() (there, gone, open uint64) {
	return s.doubts.there.Load(), s.doubts.gone.Load(), s.doubts.open.Load()
}

// ReaderConnections is how many Views run at a time.
const ReaderConnections = readerConnections

// SQLLastID is what each group of updates reads.
const SQLLastID = sqlLastID

// WithTables makes a database as a program leaves it that made the tables and no more. A
// test of how they are made begins with postgres.New.
func WithTables(t testing.TB) (database string) {
	t.Helper()
	return postgres.Copy(t, "tables", func(database string) {
		target, err := ParseTarget(database)
		kit.Must(t, err)
		p := newPool(target, 1)
		defer p.close()
		kit.Must(t, p.prepare(t.Context(), ownMigrations(), upgrading))
	})
}
