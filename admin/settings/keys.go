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
		return "It was revoked."
	case store.KeyExpired:
		return "It has expired."
	case store.KeyOrphaned:
		return "The person who created it is no longer an owner or admin of the org."
	}
	return ""
}

func (r *request) keyRow(tx store.Tx, k store.APIKey) (keyRow, error) {
	access, err := store.LoadAccess(tx, k.ID)
	if err != nil {
		return keyRow{}, err
	}
	used, err := tx.KeyLastUsed(k.ID)
	return keyRow{k, access.State(r.now), used}, err
}

type keysPage struct {
	Keys  []keyRow
	Next  string // path of the next page; empty: this is the last
	First bool
}

func (r *request) listKeys() error {
	after := r.HTTP.URL.Query().Get("after")
	p := keysPage{First: after == ""}
	err := r.view(func(tx store.Tx) error {
		keys, err := tx.APIKeys(r.org.ID, after, maxShown+1)
		if err != nil {
			return err
		}
		if len(keys) > maxShown {
			keys = keys[:maxShown]
			p.Next = r.path("keys") + "?" + url.Values{"after": {keys[maxShown-1].ID}}.Encode()
		}
		for _, k := range keys {
			row, err := r.keyRow(tx, k)
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
	return r.render(200, "apikeys", p)
}

func (r *request) showKey() error { return r.renderKey("apikey") }

func (r *request) askToRevokeKey() error { return r.renderKey("apikey_revoke") }

// renderKey is a page about the key of the path.
func (r *request) renderKey(page string) error {
	var row keyRow
	err := r.view(func(tx store.Tx) error {
		k, err := store.FindKey(tx, r.org.ID, r.param(keyParam))
		if err != nil {
			return err
		}
		row, err = r.keyRow(tx, k)
		return err
	})
	if err != nil {
		return err
	}
	return r.render(200, page, row)
}

func (r *request) revokeKey() error {
	id := r.param(keyParam)
	err := r.change(func(tx store.Tx) error { return store.RevokeKey(tx, r.actor(), r.org.ID, id) })
	if err != nil {
		return err
	}
	return r.done("key-revoked", r.path("keys", id))
}
