package admin

import (
	"teamdata/internal/strictjson"
	"teamdata/store"
)

// maxFileSize is the greatest whole number that every reader of JSON takes as it
// is written.
const maxFileSize = 1<<53 - 1

func (x *exchange) uploadFile() error {
	f, r, sized := store.File{OrgID: x.org()}, x.in, false
	err := r.Document(r.Text("id", &f.ID), r.Text("name", &f.Name), r.Text("contentType", &f.ContentType),
		strictjson.Given(&sized, r.Int("size", &f.Size, 0, maxFileSize)))
	if err != nil {
		return err
	}
	if !sized {
		return store.Invalid("size", "is missing; it is a number of bytes, 0 or more")
	}
	return x.once(func(tx store.Tx) (store.Answer, error) {
		f, err := store.UploadFile(tx, x.actor, f)
		return created(fileJSON(f)), err
	})
}

func fileJSON(f store.File) []byte {
	return newObject().text("id", f.ID).text("name", f.Name).text("contentType", f.ContentType).number("size", f.Size).end()
}
