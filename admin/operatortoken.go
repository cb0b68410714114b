package admin

import (
	"net/http"
	"strings"
	"time"

	"teamdata/store"
	"teamdata/wire/web"
)

func tokenJSON(o store.OperatorToken) object {
	return newObject().text("id", o.ID).text("name", o.Name).time("createdAt", o.CreatedAt).time("expiresAt", o.ExpiresAt)
}

func (r *request) listOperatorTokens() error {
	return r.page(func(tx store.Tx, q web.PageQuery) (store.Page, error) {
		tokens, err := tx.OperatorTokens()
		id := func(o store.OperatorToken) string { return o.ID }
		return pageOf(tokens, 0, q, id, func(o store.OperatorToken) []byte { return tokenJSON(o).end() }), err
	})
}

func (r *request) createOperatorToken() error {
	var name string
	var expiresAt time.Time
	r.read(r.in.Value("name", &name), r.in.Value("expiresAt", &expiresAt))
	return r.idempotent(func(tx store.Tx) (store.Answer, error) {
		o, secret, err := store.CreateOperatorToken(tx, name, expiresAt)
		err = r.operated(err, tx, "operatorToken.created", o.ID)
		return withSecret(http.StatusCreated, tokenJSON(o), "token", o.ID+"."+secret), err
	})
}

func (r *request) revokeOperatorToken() error {
	return r.remove("operatorToken.revoked", r.Param("token"), store.RevokeOperatorToken)
}

var errNoToken = store.Errorf(store.CodeUnauthorized, "The operator token is missing.").Advise("Send the header Authorization: Bearer <id>.<secret>, once. Make one with: teamdata operator-token create")

// checkToken finds the request's operator token. It is read from the store each
// time, so a revocation takes effect with its commit. A storage fault is not a
// 401.
func (r *request) checkToken() error {
	values := r.HTTP.Header["Authorization"]
	if len(values) != 1 {
		return errNoToken
	}
	scheme, presented, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return errNoToken
	}
	return r.api.store.View(r.HTTP.Context(), func(tx store.Tx) (err error) {
		r.token, err = store.FindOperatorToken(tx, strings.TrimLeft(presented, " "))
		return err
	})
}
