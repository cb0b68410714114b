package settings

import (
	"encoding/hex"
	"net/http"
	"time"

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

// confirmPage is a page that asks before something is done that can't be undone, or
// that stops something.
type confirmPage struct {
	Title  string
	About  string   // what it would be done to; may be empty
	Text   []string // what will happen, a paragraph each
	Button string
	To     string // path of the form
	Back   string // path of the page for those who don't want it
	Danger bool   // it can't be undone
}

// parseInput reads the value of a datetime-local input, taken as UTC.
func parseInput(text string) (time.Time, bool) {
	for _, form := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05"} { // Parse takes a fraction by itself
		if t, err := time.Parse(form, text); err == nil && !t.Before(time.UnixMilli(0)) && !t.After(store.MaxTime) {
			return t, true
		}
	}
	return time.Time{}, false
}
