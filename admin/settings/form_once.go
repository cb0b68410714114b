package settings

import (
	"encoding/hex"
	"net/http"

	"teamdata/store"
)

// once is change for a form that makes something: sent again, by a double click
// or a reload, it makes nothing. The form holds a nonce (the part of that name),
// so that the same things can be made twice on purpose. What fn returns is kept
// and may hold no secret; again tells that it is that of the first time.
func (r *request) once(fn func(tx store.Tx) (kept string, err error)) (kept string, again bool, err error) {
	err = r.change(func(tx store.Tx) error {
		print := store.FingerprintOf(http.MethodPost, r.HTTP.URL.Path, r.actor(), []byte(r.HTTP.PostForm.Encode()))
		key := "form:" + hex.EncodeToString(print[:]) // no two forms share one, nor do an API client's requests
		first, err := tx.IdempotencyRecord(r.org.ID, key)
		if err == nil {
			kept, again = string(first.Answer.Body), true
			return nil
		}
		if !store.IsNotFound(err) {
			return err
		}
		if kept, err = fn(tx); err != nil {
			return err
		}
		return tx.AddIdempotencyRecord(store.IdempotencyRecord{
			OrgID: r.org.ID, Key: key, Fingerprint: print, FirstUse: tx.Now(),
			Answer: store.Answer{Status: http.StatusSeeOther, Body: []byte(kept)},
		})
	})
	return kept, again, err
}
