package admin

import (
	"teamdata/client/admin/api"
	"teamdata/store"
)

func (r *request) addFile() error {
	b := decode[api.NewFile](r, "size", "it must be a number of bytes, 0 or more")
	f := store.File{OrgID: r.org(), ID: orZero(b.ID), Name: b.Name, ContentType: b.ContentType, Size: int64(b.Size)}
	return r.idempotent(func(tx store.Tx) (store.Answer, error) {
		f, err := store.UploadFile(tx, r.actor, f)
		return created(fileJSON(f)), err
	})
}

func fileJSON(f store.File) []byte {
	return newObject().text("id", f.ID).text("name", f.Name).text("contentType", f.ContentType).number("size", f.Size).end()
}
