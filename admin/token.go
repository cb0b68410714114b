package admin

import (
	"strings"

	"teamdata/store"
)

var errNoToken = store.Errorf(store.CodeUnauthorized, "The operator token is missing. Send the header Authorization: Bearer <id>.<secret>, once. Make one with: teamdata operator-token create")

// nobodyAsked lets everybody in.
func nobodyAsked(*request) error { return nil }

// checkToken finds the request's operator token. It is read each time: it ends
// with the commit that revokes it. A fault of the storage is not a 401.
func (r *request) checkToken() error {
	values := r.HTTP.Header["Authorization"]
	if len(values) != 1 {
		return errNoToken
	}
	scheme, presented, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return errNoToken
	}
	return r.f.store.View(r.HTTP.Context(), func(tx store.Tx) error {
		token, err := store.FindOperatorToken(tx, strings.TrimLeft(presented, " "))
		r.token = token.ID
		return err
	})
}
