package settings

import (
	"cmp"
	"encoding/hex"
	"net/http"
	"slices"

	"teamdata/store"
)

// ChangeOnce is Change for a form that creates something: sent again, by a double
// click or a reload, the form creates nothing. The form has a nonce (the template
// of that name), so that the same thing can be created twice on purpose. The
// result of fn is stored and must contain no secret; again reports that kept is
// from the first time.
func (r *request) ChangeOnce(fn func(tx store.Tx) (kept string, err error)) (kept string, again bool, err error) {
	if err := r.View(nil); err != nil {
		return "", false, err
	}
	sent := store.FingerprintOf(http.MethodPost, r.HTTP.URL.Path, "", []byte(r.HTTP.PostForm.Encode())) // of up to maxForm, so beside the writer
	print := store.FingerprintOf("", "", r.actor(), sent[:])
	key := "form:" + hex.EncodeToString(print[:]) // shared neither by two forms nor with an API client's requests
	r.keys = []store.IdempotencyKey{{OrgID: r.Org.ID, Key: key}}
	err = r.Change(func(tx store.Tx) error {
		first, err := tx.IdempotencyRecord(r.Org.ID, key)
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
			OrgID: r.Org.ID, Key: key, Fingerprint: print, FirstUse: tx.Now(),
			Answer: store.Answer{Status: http.StatusSeeOther, Body: []byte(kept)},
		})
	})
	return kept, again, err
}

// confirmPage asks for confirmation before something is stopped, or before an
// action that can't be undone.
type confirmPage struct {
	Title  string
	About  string // the subject; may be empty
	Facts  []confirmFact
	Button string
	To     string // path of the form
	Back   string // path of the page behind Cancel
}

// confirmFact is a part of what will happen, with the number that it concerns.
type confirmFact struct{ Name, Number, Text string }

// counted is a number of things, such as "3 deliveries"; empty: none.
func counted(n int, more bool, one, several string) string {
	switch {
	case n == 0 && !more:
		return ""
	case n == 1 && !more:
		return "1 " + one
	}
	return formatCount(n, more) + " " + several
}

func (r *request) confirmRemovePasskey() error {
	if err := r.View(nil); err != nil {
		return err
	}
	i := slices.IndexFunc(r.Account.Passkeys, func(p store.Passkey) bool { return p.ID == r.Param("passkey") })
	if i < 0 {
		return errNoPage
	}
	password := "and a password."
	if r.Account.PasswordAt.IsZero() {
		password = "and no password."
	}
	return r.Render(http.StatusOK, "confirm", confirmPage{
		Title: "Remove this passkey?", About: r.Account.Passkeys[i].Name, Button: "Remove passkey",
		Facts: []confirmFact{
			{"From now on", "", "You can no longer sign in with it. You stay signed in where you are."},
			{"You still have", cmp.Or(counted(len(r.Account.Passkeys)-1, false, "other passkey", "other passkeys"), "no other passkey"), password},
			{"On your device", "", "It may still be offered, until you delete it there too."},
		},
		To: r.HTTP.URL.Path, Back: Path + "/account",
	})
}
