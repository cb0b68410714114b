package storetest

import (
	"time"

	"teamdata/store"
)

// known is the secret of all sessions and links of a history, in place of the
// random ones that rules make.
const known = "known"

// makeLink is CreateSignInLink with the secret that is known.
func (h *history) makeLink() operation {
	org, user := h.org(), h.user()
	ttl := pick(h, []time.Duration{0, time.Minute, time.Hour, store.DefaultSignInLinkTTL})
	return op(func(tx store.Tx) error {
		l, _, err := store.CreateSignInLink(tx, org, user, ttl)
		if err != nil {
			return err
		}
		l.SecretHash = store.HashSecret(known)
		return tx.PutSignInLink(l)
	}, "make a link for %q of %q that works for %v", user, org, ttl)
}

func (h *history) useLink() operation {
	id := oneOf(h, h.names.links)
	return op(func(tx store.Tx) error { return second(store.UseSignInLink(tx, id+"."+known, "by link")) }, "use the link %s", id)
}

// oneOf is one of the ids that were given, if there is any.
func oneOf(h *history, given []string) string {
	if len(given) == 0 {
		return "none"
	}
	return pick(h, given)
}

// makeSession is CreateSession with the secret that is known.
func (h *history) makeSession() operation {
	user := h.user()
	return op(func(tx store.Tx) error {
		s, _, err := store.CreateSession(tx, user, "Browser/1")
		if err != nil {
			return err
		}
		s.SecretHash = store.HashSecret(known)
		return tx.PutSession(s)
	}, "make a session of %q", user)
}

// useSession finds a session as a request does, and notes that.
func (h *history) useSession() operation {
	id := oneOf(h, h.names.sessions)
	return op(func(tx store.Tx) error {
		if _, err := store.FindSession(tx, id+"."+known); err != nil {
			return err
		}
		return store.TouchSession(tx, id)
	}, "use the session %s", id)
}

func (h *history) endSession() operation {
	user, id := h.user(), oneOf(h, h.names.sessions)
	if s, ok := h.oracle.sessions[id]; ok && h.IntN(4) > 0 {
		user = s.UserID
	}
	return op(func(tx store.Tx) error { return store.EndSession(tx, user, id) }, "end the session %s of %q", id, user)
}

func (h *history) setPassword() operation {
	user, keep := h.user(), oneOf(h, h.names.sessions)
	return op(func(tx store.Tx) error { return store.SetPassword(tx, user, "set", keep) }, "password of %q, who keeps %s", user, keep)
}

// passkey adds a passkey, uses it, or removes it.
func (h *history) passkey() operation {
	user, id := h.user(), pick(h, []string{"p", "q"})
	switch h.IntN(4) {
	case 0:
		return op(func(tx store.Tx) error { return store.UsePasskey(tx, user, id, []byte("used")) }, "%q uses passkey %q", user, id)
	case 1:
		return op(func(tx store.Tx) error { return store.RemovePasskey(tx, user, id) }, "%q removes passkey %q", user, id)
	}
	p := store.Passkey{ID: id, Name: "phone", Credential: []byte("made")}
	return op(func(tx store.Tx) error { return store.AddPasskey(tx, user, p) }, "%q adds passkey %q", user, id)
}

// useKey notes the last use of a key that is there.
func (h *history) useKey() operation {
	id, at := pick(h, h.names.keys), h.importedTime()
	return op(func(tx store.Tx) error {
		if _, err := tx.APIKey(id); err != nil {
			return err
		}
		return tx.PutKeyLastUsed(id, at)
	}, "key %q was used at %v", id, at)
}

// addCounts counts attempts at any time; those of attempts are of now.
func (h *history) addCounts() operation {
	org, endpoint, at := h.org(), uint64(h.IntN(3)), h.importedTime()
	c := store.DeliveryCounts{Acknowledged: h.IntN(3), Failed: 1 + h.IntN(200)}
	return op(func(tx store.Tx) error { return tx.AddDeliveryCounts(org, endpoint, at, c) },
		"count %v at endpoint %d of %q at %v", c, endpoint, org, at)
}
