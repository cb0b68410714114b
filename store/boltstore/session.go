package boltstore

import (
	"teamdata/store"
	"teamdata/store/codec"
)

var sessions = table[store.Session]{bucket: bucketSessions, noun: "session", fields: codec.Session}

func (t *tx) Session(id string) (store.Session, error) { return sessions.get(t, []byte(id)) }

func (t *tx) Sessions(after string, limit int) ([]store.Session, error) {
	return sessions.list(t, after, limit)
}

func (t *tx) PutSession(s store.Session) error { return sessions.put(t, []byte(s.ID), s) }

func (t *tx) DeleteSession(id string) error { return sessions.delete(t, []byte(id)) }

// sessionOf checks that a session of an account exists and belongs to it.
func (c *checker) sessionOf(a *store.Account, id string) {
	record := c.get(bucketSessions, []byte(id))
	if record == nil {
		c.fault("accounts %q: its session %q is missing", a.UserID, id)
		return
	}
	s := readRecord(c, bucketSessions, []byte(id), record, codec.Session)
	if s.ID != id || s.UserID != a.UserID {
		c.fault("sessions %q: holds the session %q of %q", id, s.ID, s.UserID)
	}
}
