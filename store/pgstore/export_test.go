package pgstore

// Doubts returns how many commits lost their answer: of those that are there, of those
// that are not, and of those of which neither could be learnt in time.
func (s *Store) Doubts() (there, gone, open uint64) {
	return s.doubts.there.Load(), s.doubts.gone.Load(), s.doubts.open.Load()
}

// SQLLastID is what each group of updates reads.
const SQLLastID = sqlLastID
