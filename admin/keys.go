package admin

import (
	"errors"
	"net/http"
	"time"

	"teamdata/internal/strictjson"
	"teamdata/internal/web"
	"teamdata/store"
)

func keyJSON(k store.APIKey, lastUsed time.Time) object {
	return newObject().text("id", k.ID).text("name", k.Name).texts("scopes", k.Scopes.Names()).
		text("createdBy", k.CreatedBy).time("createdAt", k.CreatedAt).
		time("expiresAt", k.ExpiresAt).time("revokedAt", k.RevokedAt).time("lastUsedAt", lastUsed)
}

// withSecret is an answer with a secret that is shown once: what is kept of it
// has null in its place.
func withSecret(status int, record object, name, secret string) store.Answer {
	kept := append(object{}, record...)
	a := web.JSON(status, record.text(name, secret).end())
	a.Kept = kept.raw(name, nil).end()
	return a
}

func (x *exchange) listKeys() error {
	return x.page(func(tx store.Tx, q web.PageQuery) (store.Page, error) {
		keys, err := tx.APIKeys(x.org(), q.After.ID, q.Limit+1)
		items := itemsOf(keys, 0, func(k store.APIKey) string { return k.ID }, func(k store.APIKey) []byte {
			shown, errShown := shownKey(tx, k)
			err = errors.Join(err, errShown)
			return shown
		})
		return pageOf(items, q), err
	})
}

func shownKey(tx store.Tx, k store.APIKey) ([]byte, error) {
	used, err := tx.KeyLastUsed(k.ID)
	return keyJSON(k, used).end(), err
}

func (x *exchange) createKey() error {
	k, r := store.APIKey{OrgID: x.org()}, x.in
	err := r.Document(r.Text("name", &k.Name), strictjson.Set(r, "scopes", &k.Scopes, store.ParseScope),
		r.Text("createdBy", &k.CreatedBy), r.Time("expiresAt", &k.ExpiresAt))
	if err != nil {
		return err
	}
	return x.once(func(tx store.Tx) (store.Answer, error) {
		k, secret, err := store.CreateKey(tx, x.actor, k)
		return withSecret(http.StatusCreated, keyJSON(k, time.Time{}), "key", k.ID+"."+secret), err
	})
}

func (x *exchange) readKey() error { return x.read(x.answerKey) }

func (x *exchange) answerKey(tx store.Tx) (store.Answer, error) {
	k, err := store.FindKey(tx, x.org(), x.param("key"))
	if err != nil {
		return store.Answer{}, err
	}
	shown, err := shownKey(tx, k)
	return ok(shown), err
}

func (x *exchange) revokeKey() error {
	return x.act(func(tx store.Tx) (store.Answer, error) {
		if err := store.RevokeKey(tx, x.actor, x.org(), x.param("key")); err != nil {
			return store.Answer{}, err
		}
		return x.answerKey(tx)
	})
}
