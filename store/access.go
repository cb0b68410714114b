package store

import "time"

// Access is all that the check of a request's key depends on, as of one moment.
type Access struct {
	Key            APIKey
	CreatorManages bool    // the key's creator may still manage keys
	Features       Feature // what the org's subscription grants
}

// KeyState is whether a key works, or why it does not any more.
type KeyState string

// The states of a key, of several the first that is so.
const (
	KeyRevoked   KeyState = "revoked"
	KeyExpired   KeyState = "expired"
	KeySuspended KeyState = "suspended" // its creator may not manage keys; it works again with the role
	KeyActive    KeyState = "active"
)

// State is the state of the key at a time.
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

// LoadAccess reads the Access of a key; notFound when there is no such key.
// It stays true until the Store's AccessGeneration changes.
func LoadAccess(tx Tx, keyID string) (Access, error) {
	key, err := tx.APIKey(keyID)
	if err != nil {
		return Access{}, err
	}
	return AccessOf(tx, key)
}

// AccessOf is LoadAccess of a key that tx has read.
func AccessOf(tx Tx, key APIKey) (Access, error) {
	creator, err := tx.Member(key.OrgID, key.CreatedBy)
	if err != nil && !IsNotFound(err) {
		return Access{}, err
	}
	features, err := Features(tx, key.OrgID)
	if IsNotFound(err) { // a key without its org: a defect of the data, not of the request
		return Access{}, &Error{Code: CodeInternal, Message: "The key's org can't be read.", Err: err}
	}
	if err != nil {
		return Access{}, err
	}
	return Access{Key: key, CreatorManages: creator.Manages(), Features: features}, nil
}
