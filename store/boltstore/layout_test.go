package boltstore

import "testing"

func TestBucketsAreAllNamed(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range buckets {
		if seen[string(name)] {
			t.Errorf("%s is given twice", name)
		}
		seen[string(name)] = true
	}
	f := newFixture(t, Options{NoSync: true})
	for name := range f.topBuckets() {
		if !seen[name] {
			t.Errorf("%s is in the file and not in the list", name)
		}
		delete(seen, name)
	}
	for name := range seen {
		t.Errorf("%s is not in the file", name)
	}
}
