package admin

import (
	"teamdata/store"
	"teamdata/wire/strictjson"
)

// maxFileSize is the greatest integer that every JSON parser reads exactly.
const maxFileSize = 1<<53 - 1

func (r *request) addFile() error {
	f, in := store.File{OrgID: r.org()}, r.in
	r.read(in.Text("id", &f.ID), in.Text("name", &f.Name), in.Text("contentType", &f.ContentType),
		strictjson.Required(in.Int("size", &f.Size, 0, maxFileSize), "it is a number of bytes, 0 or more"))
	return r.idempotent(func(tx store.Tx) (store.Answer, error) {
		f, err := store.UploadFile(tx, r.actor, f)
		return created(fileJSON(f)), err
	})
}

func fileJSON(f store.File) []byte {
	return newObject().text("id", f.ID).text("name", f.Name).text("contentType", f.ContentType).number("size", f.Size).end()
}
