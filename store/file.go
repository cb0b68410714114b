package store

import "cmp"

// UploadFile records that a file was uploaded: its audit entry and its event
// file.uploaded. The content is stored elsewhere. A missing id is filled in.
func UploadFile(tx Tx, actorID string, f File) (File, error) {
	if f.ID == "" {
		f.ID = tx.NewID(PrefixFile)
	}
	if err := f.check(); err != nil {
		return File{}, err
	}
	data := jsonObject("orgId", f.OrgID, "fileId", f.ID, "name", f.Name, "contentType", f.ContentType)
	return f, auditAndEmit(nil, tx, actorID, f.OrgID, EventFileUploaded, f.ID, addNumber(data, "size", f.Size))
}

// File is a file that the team's own software accepted.
type File struct {
	OrgID       string
	ID          string
	Name        string // 1 to 200 characters
	ContentType string // 1 to 200 characters
	Size        int64  // bytes
}

func (f File) check() error {
	err := cmp.Or(checkID("id", f.ID), checkText("name", f.Name, maxNameLength), checkText("contentType", f.ContentType, maxNameLength))
	if err == nil && f.Size < 0 {
		err = Invalid("size", "must be a number of bytes, 0 or more")
	}
	return err
}
