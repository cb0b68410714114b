package store

import "time"

// Access is everything that authorizing a request's key depends on, read in one
// transaction.
type Access struct {
	Key            APIKey
	CreatorManages bool    // the key's creator may still manage keys
	Features       Feature // what the org's subscription grants
}

// KeyState is whether a key works, or why it no longer does.
type KeyState string

// The states of a key; when several apply, the first one listed wins.
const (
	KeyRevoked   KeyState = "revoked"
	KeyExpired   KeyState = "expired"
	KeySuspended KeyState = "suspended" // its creator may not manage keys; it works again with the role
	KeyActive    KeyState = "active"
)

// State returns the state of the key at now.
func (a *Access) State(now time.Time) KeyState {
	switch {
	case !a.Key.RevokedAt.IsZero():
		return KeyRevoked
	case !a.Key.ExpiresAt.IsZero() && !now.Before(a.Key.ExpiresAt):
		return KeyExpired
	case !a.CreatorManages:
		return KeySuspended
	}
	return KeyActive
}

// LoadAccess reads the Access of a key; notFound when there is no such key, or its
// org was deleted. The result is valid until the Store's AccessGeneration changes.
func LoadAccess(tx Tx, keyID string) (Access, error) {
	key, err := tx.APIKey(keyID)
	if err != nil {
		return Access{}, err
	}
	return AccessOf(tx, key)
}

// AccessOf is LoadAccess for a key already read in tx.
func AccessOf(tx Tx, key APIKey) (Access, error) {
	creator, err := tx.Member(key.OrgID, key.CreatedBy)
	if err != nil && !IsNotFound(err) {
		return Access{}, err
	}
	features, err := Features(tx, key.OrgID)
	if IsNotFound(err) {
		return Access{}, withoutOrg(tx, key, err)
	}
	if err != nil {
		return Access{}, err
	}
	return Access{Key: key, CreatorManages: creator.Manages(), Features: features}, nil
}

// withoutOrg is why the org of a key is not found: it was deleted, or the data is
// corrupt, which is no fault of a request.
func withoutOrg(tx Tx, key APIKey, notFound error) error {
	removed, err := tx.OrgRemoved(key.OrgID)
	switch {
	case err != nil:
		return err
	case removed:
		return Errorf(CodeNotFound, "The org of the key was deleted.")
	}
	return &Error{Code: CodeInternal, Message: "The key's org can't be read.", Err: notFound}
}
