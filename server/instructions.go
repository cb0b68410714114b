package server

import (
	"net/http"

	"teamdata/internal/web"
	"teamdata/store"
)

// readInstructions answers the org's instructions to its assistant; null when
// it has set none.
func (x *exchange) readInstructions() error {
	var instructions store.Instructions
	err := x.s.store.View(x.r.Context(), func(tx store.Tx) (err error) {
		instructions, err = tx.Instructions(x.access.Key.OrgID)
		return err
	})
	if err != nil {
		return err
	}
	x.answer(web.JSON(http.StatusOK, instructions.AppendJSON(nil)))
	return nil
}
