package server

import (
	"net/http"

	"teamdata/internal/web"
	"teamdata/store"
)

// readInstructions answers the org's instructions to its assistant; null when
// it has set none.
func (r *request) readInstructions() error {
	var instructions store.Instructions
	err := r.s.store.View(r.HTTP.Context(), func(tx store.Tx) (err error) {
		instructions, err = tx.Instructions(r.access.Key.OrgID)
		return err
	})
	if err != nil {
		return err
	}
	r.answer(web.JSON(http.StatusOK, instructions.AppendJSON(nil)))
	return nil
}
