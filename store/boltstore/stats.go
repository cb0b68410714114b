package boltstore

import (
	"context"

	"teamdata/store"
	"teamdata/store/boltstore/boltfile"
)

// Probe commits through the writer and to disk, like any other.
func (s *Store) Probe(ctx context.Context) error {
	if boltfile.IsFull(s.Refusal()) { // an empty commit needs no more room
		if err := s.file.Room(); err != nil {
			return storageFault(err)
		}
	}
	return s.Probing(func() error {
		return s.Update(ctx, store.Scope{}, func(t store.Tx) error {
			ownTx(t).dropped = true
			return nil
		})
	})
}

// Stats reads nothing of the file but its size.
func (s *Store) Stats() (st store.Stats, err error) {
	st.Reads, st.OldestRead = s.OpenViews()
	st.Free = s.file.FreePages() * int64(s.db.Info().PageSize)
	st.Size, err = s.file.Size()
	return st, err
}

// About returns a description of the open data file.
func (s *Store) About() (store.About, error) {
	size, err := s.file.Size()
	if err != nil {
		return store.About{}, err
	}
	about := store.About{Place: s.Path(), Size: size, Schema: int(schemaVersion()), Sealed: s.seal.On()}
	err = s.view(func(t *tx) (err error) {
		about.Now = t.now
		about.Newest, err = t.newest()
		return err
	})
	return about, err
}
