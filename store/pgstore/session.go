package pgstore

import (
	"teamdata/store"
	"teamdata/store/codec"
)

var sessions = records[store.Session]{table: define("sessions", 1, text("id"), blob("record")), noun: "session", fields: codec.Session}

func (t *tx) Session(id string) (store.Session, error) { return sessions.get(t, id) }

func (t *tx) Sessions(after string, limit int) ([]store.Session, error) {
	return sessions.list(t, after, limit)
}

func (t *tx) PutSession(s store.Session) error { return sessions.put(t, s, s.ID) }

func (t *tx) DeleteSession(id string) error { return sessions.remove(t, id) }
