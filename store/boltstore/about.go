package boltstore

import "os"

// About is what there is to say of a data file.
type About struct {
	Path   string
	Size   int64 // bytes
	Schema int
	Sealed bool
}

// About tells of the open data file.
func (s *Store) About() (About, error) {
	info, err := os.Stat(s.Path())
	if err != nil {
		return About{}, err
	}
	return About{Path: s.Path(), Size: info.Size(), Schema: int(schemaVersion()), Sealed: s.seal.on()}, nil
}
