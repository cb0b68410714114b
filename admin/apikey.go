package admin

import (
	"errors"
	"net/http"
	"slices"

	"teamdata/store"
	"teamdata/wire/strictjson"
	"teamdata/wire/web"
)

func keyJSON(k store.APIKey, state store.KeyState, u store.KeyUse) object {
	o := newObject().text("id", k.ID).text("name", k.Name).text("state", string(state)).texts("scopes", k.Scopes.Names())
	if len(k.Endpoints) > 0 {
		o = o.texts("endpoints", k.Endpoints)
	}
	return o.text("createdBy", k.CreatedBy).time("createdAt", k.CreatedAt).
		time("expiresAt", k.ExpiresAt).time("revokedAt", k.RevokedAt).time("lastUsedAt", u.LastUsedAt)
}

// withSecret returns an answer with a secret that is shown only once: the copy
// kept for replays has null instead. secret is pairs of a field's name and text.
func withSecret(status int, record object, secret ...string) store.Answer {
	kept := append(object{}, record...)
	for pair := range slices.Chunk(secret, 2) {
		record, kept = record.text(pair[0], pair[1]), kept.raw(pair[0], nil)
	}
	a := web.JSON(status, record.end())
	a.Kept = kept.end()
	return a
}

func (r *request) listKeys() error {
	return r.page(func(tx store.Tx, q web.PageQuery) (store.Page, error) {
		keys, err := tx.APIKeys(r.org(), q.After.ID, q.Limit+1)
		page := pageOf(keys, 0, q, func(k store.APIKey) string { return k.ID }, func(k store.APIKey) []byte {
			shown, errShown := formatKey(tx, k)
			err = errors.Join(err, errShown)
			return shown
		})
		return page, err
	})
}

func formatKey(tx store.Tx, k store.APIKey) ([]byte, error) {
	access, err := store.AccessOf(tx, k)
	if err != nil {
		return nil, err
	}
	use, err := tx.KeyUse(k.ID)
	return keyJSON(k, access.State(tx.Now()), use).end(), err
}

func (r *request) createKey() error {
	k, in := store.APIKey{OrgID: r.org()}, r.in
	r.read(in.Value("name", &k.Name), strictjson.Set(in, "scopes", &k.Scopes, store.ParseScope),
		in.Value("endpoints", &k.Endpoints), in.Value("createdBy", &k.CreatedBy), in.Value("expiresAt", &k.ExpiresAt))
	return r.idempotent(func(tx store.Tx) (store.Answer, error) {
		k, secret, err := store.CreateKey(tx, r.actor, k)
		return withSecret(http.StatusCreated, keyJSON(k, store.KeyActive, store.KeyUse{}), "key", k.ID+"."+secret), err
	})
}

func (r *request) readKey() error { return r.view(r.answerKey) }

func (r *request) answerKey(tx store.Tx) (store.Answer, error) {
	k, err := store.FindKey(tx, r.org(), r.Param("key"))
	if err != nil {
		return store.Answer{}, err
	}
	shown, err := formatKey(tx, k)
	return ok(shown), err
}

func (r *request) revokeKey() error {
	return r.actOn("key", store.RevokeKey, r.answerKey)
}
