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

func (x *exchange) listOperatorTokens() error {
	return x.page(func(tx store.Tx, q web.PageQuery) (store.Page, error) {
		tokens, err := tx.OperatorTokens()
		id := func(o store.OperatorToken) string { return o.ID }
		return pageOf(itemsOf(tokens, 0, id, func(o store.OperatorToken) []byte { return tokenJSON(o).end() }), q), err
	})
}

func (x *exchange) createOperatorToken() error {
	var name string
	var expiresAt time.Time
	if err := x.in.Document(x.in.Text("name", &name), x.in.Time("expiresAt", &expiresAt)); err != nil {
		return err
	}
	return x.once(func(tx store.Tx) (store.Answer, error) {
		o, secret, err := store.CreateOperatorToken(tx, name, expiresAt)
		return withSecret(http.StatusCreated, tokenJSON(o), "token", o.ID+"."+secret), err
	})
}

func (x *exchange) revokeOperatorToken() error {
	return x.change(func(tx store.Tx) (store.Answer, error) {
		return gone, store.RevokeOperatorToken(tx, x.param("token"))
	})
}
