package settings

import (
	"net/http"
	"slices"

	"teamdata/store"
)

func (r *request) confirmRemovePasskey() error {
	if err := r.View(nil); err != nil {
		return err
	}
	i := slices.IndexFunc(r.Account.Passkeys, func(p store.Passkey) bool { return p.ID == r.Param("passkey") })
	if i < 0 {
		return errNoPage
	}
	return r.Render(http.StatusOK, "confirm", confirmPage{
		Title: "Remove this passkey?", About: r.Account.Passkeys[i].Name, Danger: true, Button: "Remove passkey",
		Text: []string{"You can no longer sign in with it. Where you are signed in, you stay signed in. Your device may keep offering it until you delete it there too."},
		To:   r.HTTP.URL.Path, Back: Path + "/account",
	})
}
