package admin

import (
	"net/http"
	"time"

	"teamdata/internal/web"
	"teamdata/store"
)

func tokenJSON(o store.OperatorToken) object {
	return newObject().text("id", o.ID).text("name", o.Name).time("createdAt", o.CreatedAt).time("expiresAt", o.ExpiresAt)
}

func (r *request) listOperatorTokens() error {
	return r.page(func(tx store.Tx, q web.PageQuery) (store.Page, error) {
		tokens, err := tx.OperatorTokens()
		id := func(o store.OperatorToken) string { return o.ID }
		return pageOf(itemsOf(tokens, 0, id, func(o store.OperatorToken) []byte { return tokenJSON(o).end() }), q), err
	})
}

func (r *request) createOperatorToken() error {
	var name string
	var expiresAt time.Time
	if err := r.in.Document(r.in.Text("name", &name), r.in.Time("expiresAt", &expiresAt)); err != nil {
		return err
	}
	return r.once(func(tx store.Tx) (store.Answer, error) {
		o, secret, err := store.CreateOperatorToken(tx, name, expiresAt)
		return withSecret(http.StatusCreated, tokenJSON(o), "token", o.ID+"."+secret), err
	})
}

func (r *request) revokeOperatorToken() error {
	return r.change(func(tx store.Tx) (store.Answer, error) {
		return gone, store.RevokeOperatorToken(tx, r.param("token"))
	})
}
