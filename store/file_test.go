package store_test

import (
	"strings"
	"testing"

	"teamdata/store"
)

func TestFileRules(t *testing.T) { onBoth(t, testFileRules) }

func testFileRules(s *subject) {
	s.Seed()
	file := store.File{OrgID: acme, ID: longID, Name: longText, ContentType: longText, Size: 1 << 40}
	put := func(f store.File) func(store.Tx) error {
		return func(tx store.Tx) error { return second(store.UploadFile(tx, ada, f)) }
	}
	data := map[string]any{"orgId": acme, "fileId": longID, "name": longText, "contentType": longText, "size": float64(1 << 40)}
	s.does("a file", put(file), one("file.uploaded "+longID, sent{"file.uploaded", data}))
	file.Size = 0
	data["size"] = 0
	s.does("an empty one", put(file), one("file.uploaded "+longID, sent{"file.uploaded", data}))
	for what, spoil := range map[string]func(*store.File){
		"no id":       func(f *store.File) { f.ID = "fil.1" },
		"a long id":   func(f *store.File) { f.ID += "x" },
		"no name":     func(f *store.File) { f.Name = "" },
		"a long name": func(f *store.File) { f.Name = tooLong(200) },
		"no type":     func(f *store.File) { f.ContentType = "" },
		"a long type": func(f *store.File) { f.ContentType = tooLong(200) },
		"a size < 0":  func(f *store.File) { f.Size = -1 },
	} {
		bad := file
		spoil(&bad)
		s.refused("a file with "+what, store.CodeBadRequest, put(bad))
	}
	file.OrgID = "org_none"
	s.refused("a file of no org", store.CodeNotFound, put(file))
	s.Write(func(tx store.Tx) error {
		f, err := store.UploadFile(tx, "", store.File{OrgID: acme, Name: "a", ContentType: "b"})
		s.Equal("an id that is given", strings.HasPrefix(f.ID, store.PrefixFile), true)
		return err
	})
}

func uploadFile(id string) func(store.Tx) error {
	return func(tx store.Tx) error {
		return second(store.UploadFile(tx, ada, store.File{OrgID: acme, ID: id, Name: "a", ContentType: "b"}))
	}
}
