package store

import (
	"slices"
	"strings"
	"time"

	"teamdata/store/rows"
)

// Session keeps a person signed in. The browser's cookie has the form
// `<id>.<secret>`, like an API key.
type Session struct {
	ID         string
	UserID     string
	SecretHash SecretHash // of the part of the cookie behind the period
	UserAgent  string     // User-Agent header, at most 200 bytes
	CreatedAt  time.Time  // a session ends 30 days after it, that of a portal 12 hours after it
	LastSeenAt time.Time  // and 12 hours after this; see SessionSeenEvery
	Portal     Portal     // zero: the session is one of its user's account
}

// Limits of a session.
const (
	SessionIdle      = 12 * time.Hour      // without a request
	SessionAge       = 30 * 24 * time.Hour // in total
	SessionSeenEvery = time.Minute         // how often LastSeenAt is written
)

var sessions = rows.Define(&rows.Table[Session]{
	Kind: rows.Kind{Name: "sessions", Noun: "session"},
	Key:  func(dst []byte, s *Session) []byte { return append(dst, s.ID...) },
	Fields: func(c *rows.Codec, s *Session) {
		c.Text(&s.ID)
		c.Text(&s.UserID)
		c.Hash((*[32]byte)(&s.SecretHash))
		c.Text(&s.UserAgent)
		c.Time(&s.CreatedAt)
		c.Time(&s.LastSeenAt)
		portalFields(c, &s.Portal)
	},
	Owner: func(s *Session) rows.Owner { return rows.Owner{User: s.UserID} },
	Only:  func(s *Session) Session { return Session{ID: s.ID, UserID: s.UserID} },
})

func (t Tx) Session(id string) (Session, error) { return find(sessions, t, t.Text(id)) }

// Sessions lists up to limit sessions after an id, oldest first; from the first
// when that is empty.
func (t Tx) Sessions(after string, limit int) ([]Session, error) {
	return list(sessions, t, rows.ByKey, rows.After(after), limit)
}

func (t Tx) PutSession(s Session) error { return sessions.Put(t.Tx, &s) }

func (t Tx) DeleteSession(id string) error { return sessions.Drop(t.Tx, t.Text(id)) }

func (s *Session) live(now time.Time) bool {
	if s.Portal.Is() && !now.Before(s.CreatedAt.Add(PortalSessionAge)) {
		return false
	}
	return now.Before(s.LastSeenAt.Add(SessionIdle)) && now.Before(s.CreatedAt.Add(SessionAge))
}

// CreateSession starts a session of an account and returns it with the cookie's
// value, which is not stored.
func CreateSession(tx Tx, userID, userAgent string) (s Session, cookie string, err error) {
	s, cookie = newSession(tx, userID, userAgent)
	return s, cookie, changeAccount(tx, userID, func(a *Account) error {
		a.Sessions = append(a.Sessions, s.ID)
		for len(a.Sessions) > MaxSessions {
			if err := tx.DeleteSession(a.Sessions[0]); err != nil {
				return err
			}
			a.Sessions = a.Sessions[1:]
		}
		return tx.PutSession(s)
	})
}

func newSession(tx Tx, userID, userAgent string) (s Session, cookie string) {
	secret := NewSecret()
	s = Session{
		ID: tx.NewID(PrefixSession), UserID: userID, SecretHash: HashSecret(secret),
		UserAgent: cut(userAgent, maxNameLength), CreatedAt: tx.Now(), LastSeenAt: tx.Now(),
	}
	return s, s.ID + "." + secret
}

// FindSession finds the session of a cookie. unauthorized: it is malformed,
// unknown, wrong, ended or too old.
func FindSession(tx Tx, cookie string) (Session, error) {
	refused := Errorf(CodeUnauthorized, "The session has ended.").Advise("Sign in again.")
	return findBySecret(cookie, refused, tx.Session, func(s Session) (SecretHash, bool) {
		return s.SecretHash, s.live(tx.Now())
	})
}

// SessionUser returns whose session a cookie is of, also one that is over, as long as
// it is stored; empty: it is not known.
func SessionUser(tx Tx, cookie string) string {
	s, err := findBySecret(cookie, Errorf(CodeUnauthorized, "There is no such session."), tx.Session, func(s Session) (SecretHash, bool) { return s.SecretHash, true })
	if err != nil {
		return ""
	}
	return s.UserID
}

// TouchSession updates a session's LastSeenAt. A session that has ended meanwhile
// stays ended.
func TouchSession(tx Tx, id string) error {
	s, err := tx.Session(id)
	if err != nil || !s.live(tx.Now()) {
		return unlessNotFound(err)
	}
	s.LastSeenAt = tx.Now()
	return tx.PutSession(s)
}

// AccountSessions returns the live sessions of an account, oldest first.
func AccountSessions(tx Tx, userID string) (live []Session, err error) {
	a, err := tx.Account(userID)
	if err != nil {
		return nil, err
	}
	for _, id := range a.Sessions {
		s, err := tx.Session(id)
		if err != nil {
			return nil, err
		}
		if s.live(tx.Now()) {
			live = append(live, s)
		}
	}
	return live, nil
}

// EndSession ends a session of an account. notFound: it has no such session.
func EndSession(tx Tx, userID, id string) error {
	return changeAccount(tx, userID, func(a *Account) error {
		i := slices.Index(a.Sessions, id)
		if i < 0 {
			return Errorf(CodeNotFound, "The account has no such session.")
		}
		a.Sessions = slices.Delete(a.Sessions, i, i+1)
		return tx.DeleteSession(id)
	})
}

// SignOut ends a session, which may have ended meanwhile. That of a portal is in no
// account.
func SignOut(tx Tx, s Session) error {
	if s.Portal.Is() {
		return tx.DeleteSession(s.ID)
	}
	return unlessNotFound(EndSession(tx, s.UserID, s.ID))
}

// EndOtherSessions ends all sessions of an account except keep, which may be
// empty.
func EndOtherSessions(tx Tx, userID, keep string) error {
	return changeAccount(tx, userID, func(a *Account) error { return a.keepSession(tx, keep) })
}

// keepSession ends all of the account's sessions but one. The caller stores the
// account.
func (a *Account) keepSession(tx Tx, keep string) error {
	var kept []string
	for _, id := range a.Sessions {
		if id == keep {
			kept = append(kept, id)
			continue
		}
		if err := tx.DeleteSession(id); err != nil {
			return err
		}
	}
	a.Sessions = kept
	return nil
}

func expiredSession(s Session, now time.Time) (id string, yes bool) { return s.ID, !s.live(now) }

// dropSession drops a session that is too old or was idle for too long.
func dropSession(tx Tx, id string) (bool, error) {
	s, err := tx.Session(id)
	if err != nil || s.live(tx.Now()) {
		return false, unlessNotFound(err)
	}
	return true, SignOut(tx, s)
}

// cut returns text as valid UTF-8 of at most most bytes.
func cut(text string, most int) string {
	return strings.ToValidUTF8(text[:min(len(text), most)], "")
}
