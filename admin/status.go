package admin

import "teamdata/store"

// maxDeletedOrgs is how many deleted orgs the status names.
const maxDeletedOrgs = 100

// readStatus answers what the server knows of itself, and what is waiting in it.
func (r *request) readStatus() error {
	s, err := r.api.config.Status(r.HTTP.Context())
	if err != nil {
		return err
	}
	var b store.Backlog
	var deleted []string
	err = r.api.store.View(r.HTTP.Context(), func(tx store.Tx) (err error) {
		if b, err = tx.Backlog(r.HTTP.Context()); err == nil {
			deleted, err = tx.RemovedOrgs(maxDeletedOrgs)
		}
		return err
	})
	if err != nil {
		return err
	}
	waiting := newObject().number("endpoints", int64(b.Busy)).time("dueAt", b.DueAt).number("pull", int64(b.Pull)).time("pullAt", b.PullAt).
		number("leased", int64(b.Leased)).number("mails", int64(b.Mails)).end()
	o := newObject().text("version", r.api.config.Version).text("dataFile", s.DataFile).
		number("size", s.Size).number("schema", int64(s.Schema)).flag("sealed", s.Sealed).time("aheadOfClock", s.Ahead).
		time("since", s.Since).texts("addresses", s.Addresses)
	r.Send(ok(list(o, "certificates", s.Certificates, certificateJSON).raw("waiting", waiting).texts("deletedOrgs", deleted).end()))
	return nil
}

func certificateJSON(c store.CertificateStatus) []byte {
	return newObject().text("name", c.Name).nullable("authority", c.Authority).time("notAfter", c.NotAfter).time("nextRenewal", c.NextRenewal).
		nullable("lastError", c.LastError).time("lastErrorAt", c.LastErrorAt).end()
}
