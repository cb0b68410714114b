package app

import (
	"context"
	"fmt"
	"time"

	settingspage "teamdata/admin/settings"
	"teamdata/store"
)

// firstLinkTTL is short: the link stands in a terminal's history.
const firstLinkTTL = time.Hour

// FirstLink is a text with a link for the first owner, while nobody can sign in to
// the settings page yet; else empty. It is for a terminal, which only who started
// the server reads, and never for the log. A fault of the storage shows elsewhere.
func (a *Appliance) FirstLink() string {
	var owner store.Member
	var token string
	err := a.store.Update(context.Background(), func(tx store.Tx) (err error) {
		if owner, err = store.FirstOwner(tx); err != nil {
			return err
		}
		_, token, err = store.CreateSignInLink(tx, owner.OrgID, owner.UserID, firstLinkTTL)
		return err
	})
	if err != nil {
		return ""
	}
	return fmt.Sprintf("Nobody can sign in to the settings page yet. Open this within an hour to choose\na password for %s:\n\n  %s\n\n", owner.UserID, settingspage.LinkURL(a.publicURL())(token))
}

// logFirstLink says in the log how to make a link as FirstLink does.
func (a *Appliance) logFirstLink() {
	var owner store.Member
	err := a.store.View(context.Background(), func(tx store.Tx) (err error) {
		owner, err = store.FirstOwner(tx)
		return err
	})
	if err == nil {
		a.log.Info().Str("command", "teamdata signin-link "+owner.UserID+" --org "+owner.OrgID+a.dataFlag()).
			Msg("nobody can sign in to the settings page yet; make a link with this command")
	}
}
