package settings

import (
	"net/url"
	"time"

	"teamdata/store"
)

// keyRow is an API key as people see it.
type keyRow struct {
	store.APIKey
	State    store.KeyState
	LastUsed time.Time // zero: never, or before that was kept
}

// Why is why the key does not work any more; empty while it does.
func (k keyRow) Why() string {
	switch k.State {
	case store.KeyRevoked:
		return "it was revoked"
	case store.KeyExpired:
		return "it has expired"
	case store.KeyOrphaned:
		return "the person who created it is no owner or admin of the org any more"
	}
	return ""
}

func (v *visit) keyRow(tx store.Tx, k store.APIKey) (keyRow, error) {
	access, err := store.LoadAccess(tx, k.ID)
	if err != nil {
		return keyRow{}, err
	}
	used, err := tx.KeyLastUsed(k.ID)
	return keyRow{k, access.State(v.now), used}, err
}

type keysPage struct {
	Keys  []keyRow
	Next  string // path of the next page; empty: this is the last
	First bool
}

func (v *visit) listKeys() error {
	after := v.r.URL.Query().Get("after")
	p := keysPage{First: after == ""}
	err := v.view(func(tx store.Tx) error {
		keys, err := tx.APIKeys(v.org.ID, after, maxShown+1)
		if err != nil {
			return err
		}
		if len(keys) > maxShown {
			keys = keys[:maxShown]
			p.Next = v.path("keys") + "?" + url.Values{"after": {keys[maxShown-1].ID}}.Encode()
		}
		for _, k := range keys {
			row, err := v.keyRow(tx, k)
			if err != nil {
				return err
			}
			p.Keys = append(p.Keys, row)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return v.render(200, "keys", p)
}

func (v *visit) showKey() error { return v.renderKey("key") }

func (v *visit) askToRevokeKey() error { return v.renderKey("key_revoke") }

// renderKey is a page about the key of the path.
func (v *visit) renderKey(page string) error {
	var row keyRow
	err := v.view(func(tx store.Tx) error {
		k, err := store.FindKey(tx, v.org.ID, v.param(keyParam))
		if err != nil {
			return err
		}
		row, err = v.keyRow(tx, k)
		return err
	})
	if err != nil {
		return err
	}
	return v.render(200, page, row)
}

func (v *visit) revokeKey() error {
	id := v.param(keyParam)
	err := v.change(func(tx store.Tx) error { return store.RevokeKey(tx, v.actor(), v.org.ID, id) })
	if err != nil {
		return err
	}
	return v.done("key-revoked", v.path("keys", id))
}
