package store

import (
	"cmp"
	"slices"
	"time"

	"teamdata/store/rows"
)

// KeyScope is what a key may do; none includes another.
type KeyScope uint8

// The scopes, as a set of bits.
const (
	ScopeRead KeyScope = 1 << iota
	ScopeWrite
	ScopeReceive // pull from endpoints
)

var scopeNames = []string{"read", "write", "receive"} // in bit order

// ParseScope finds a scope by its name.
func ParseScope(name string) (KeyScope, error) {
	s, ok := bitOf[KeyScope](scopeNames, name)
	if !ok {
		return 0, Errorf(CodeBadRequest, "%.40q is not a scope", name).Advise("the scopes are read, write and receive")
	}
	return s, nil
}

// Has reports whether the set s includes t.
func (s KeyScope) Has(t KeyScope) bool { return s&t == t }

// Names lists the set's names, read first.
func (s KeyScope) Names() []string { return namesOf(scopeNames, s) }

// APIKey is a key of one org. In a request it has the form `<id>.<secret>`.
type APIKey struct {
	ID         string
	OrgID      string
	Name       string     // for people, at most 200 characters
	SecretHash SecretHash // of the part of the key behind the period
	Scopes     KeyScope   // the sum of 1 (read), 2 (write) and 4 (receive)
	CreatedBy  string     // user id; the key is suspended while this user may not manage keys
	CreatedAt  time.Time
	ExpiresAt  time.Time // zero: never
	RevokedAt  time.Time // zero: not revoked
	Endpoints  []string  // ids of those that it may pull from, if receive is its only scope; empty: all of the org that are pulled
	Told       uint8     // what was told of its end, to those who want to know: 1 nothing, 2 that it comes in 14 days, 3 in 1 day, 4 that it came; 0: it was made by a version that tells nothing
}

var apiKeys = rows.Define(&rows.Table[APIKey]{
	Kind: rows.Kind{Name: "apiKeys", Noun: "API key"},
	Key:  func(dst []byte, k *APIKey) []byte { return append(dst, k.ID...) },
	Fields: func(c *rows.Codec, k *APIKey) {
		c.Text(&k.ID)
		c.Text(&k.OrgID)
		c.Text(&k.Name)
		c.Hash((*[32]byte)(&k.SecretHash))
		rows.Small(c, &k.Scopes)
		c.Text(&k.CreatedBy)
		c.Time(&k.CreatedAt)
		c.Time(&k.ExpiresAt)
		c.Time(&k.RevokedAt)
		c.Texts(&k.Endpoints)
		rows.Small(c, &k.Told)
	},
	Owner: func(k *APIKey) rows.Owner { return rows.Owner{Org: k.OrgID} },
	Only:  func(k *APIKey) APIKey { return APIKey{ID: k.ID, OrgID: k.OrgID} },
	By: []rows.By[APIKey]{{
		Index: rows.Index{Name: "apiKeyList", Owner: rows.OfOrg, Record: rows.Behind},
		Key:   func(dst []byte, k *APIKey) []byte { return rows.Pair(dst, k.OrgID, k.ID) },
	}},
})

func (t Tx) APIKey(id string) (APIKey, error) { return find(apiKeys, t, t.Text(id)) }

// APIKeys lists up to limit keys of an org in order of id, after the given
// id; an empty id starts at the first.
func (t Tx) APIKeys(orgID, after string, limit int) ([]APIKey, error) {
	return list(apiKeys, t, 0, rows.Below(orgID, after), limit)
}

// PutAPIKey adds or replaces a key. A key's org never changes.
func (t Tx) PutAPIKey(k APIKey) error {
	t.Changed().Touched = true
	return apiKeys.Put(t.Tx, &k)
}

// DeleteAPIKey deletes a key and its use.
func (t Tx) DeleteAPIKey(id string) error {
	if _, err := t.APIKey(id); err != nil {
		return err
	}
	t.Changed().Touched = true
	if err := keyUse.Drop(t.Tx, t.Text(id)); err != nil {
		return err
	}
	return apiKeys.Drop(t.Tx, t.Text(id))
}

// KeyUse is the recorded use of a key, about a minute behind. No Access depends
// on it.
type KeyUse struct {
	LastUsedAt time.Time // the minute of the last request with the key; zero: never
}

// usedKey is a KeyUse with the key that it is of.
type usedKey struct {
	id string
	KeyUse
}

var keyUse = rows.Define(&rows.Table[usedKey]{
	Kind:     rows.Kind{Name: "keyUse", Noun: "use", Beside: &apiKeys.Kind},
	Key:      func(dst []byte, u *usedKey) []byte { return append(dst, u.id...) },
	Fields:   func(c *rows.Codec, u *usedKey) { c.Time(&u.LastUsedAt) },
	Complete: func(key []byte, u *usedKey) { u.id = string(key) },
	Checks: func(c *rows.Checker, key []byte, u *usedKey) {
		c.Look(&apiKeys.Kind, key, func(value []byte) {
			if value == nil {
				c.Fault("keyUse %q: there is no such key", u.id)
			}
		})
	},
})

// KeyUse returns the zero value for a key that was never used.
func (t Tx) KeyUse(id string) (KeyUse, error) {
	u, err := findOrZero(keyUse, t, t.Text(id))
	return u.KeyUse, err
}

func (t Tx) PutKeyUse(id string, u KeyUse) error { return keyUse.Put(t.Tx, &usedKey{id, u}) }

// Add merges more use of the same key.
func (u *KeyUse) Add(more KeyUse) {
	if more.LastUsedAt.After(u.LastUsedAt) {
		u.LastUsedAt = more.LastUsedAt
	}
}

// AddKeyUse merges use into the record of a key, unless the key was dropped meanwhile.
func AddKeyUse(tx Tx, id string, more KeyUse) error {
	if _, err := tx.APIKey(id); err != nil {
		return unlessNotFound(err)
	}
	u, err := tx.KeyUse(id)
	if err != nil {
		return err
	}
	u.Add(more)
	return tx.PutKeyUse(id, u)
}

func (k APIKey) check() error {
	if err := cmp.Or(checkID("id", k.ID), checkName("name", k.Name, maxNameLength)); err != nil {
		return err
	}
	if k.Scopes == 0 {
		return Invalid("scopes", "must name at least one of read, write and receive")
	}
	if len(k.Endpoints) > 0 && k.Scopes != ScopeReceive {
		return Invalid("endpoints", "can be named only with receive as the only scope")
	}
	if !ValidID(k.CreatedBy) {
		return Invalid("createdBy", "must be the id of the user who made the key: %s", idChars)
	}
	return nil
}

// CreateKey creates a key for a member who may manage keys, with the audit entry
// apiKey.created, and returns it with its secret, which is not stored. An expiry
// must be in the future.
func CreateKey(tx Tx, actorID string, k APIKey) (_ APIKey, secret string, err error) {
	if err := checkExpiry(tx, k.ExpiresAt); err != nil {
		return APIKey{}, "", err
	}
	secret = NewSecret()
	k.SecretHash = HashSecret(secret)
	if k, err = completeKey(tx, k); err == nil {
		err = checkCreator(tx, k)
	}
	if err != nil {
		return APIKey{}, "", err
	}
	return k, secret, auditBy(tx.PutAPIKey(k), tx, actorID, k.OrgID, "apiKey.created", k.ID)
}

func checkCreator(tx Tx, k APIKey) error {
	creator, err := tx.Member(k.OrgID, k.CreatedBy)
	if IsNotFound(err) || err == nil && !creator.Manages() {
		return Invalid("createdBy", "%q is not an owner or admin of the org, and a key works only while its creator is one", k.CreatedBy)
	}
	return err
}

// ImportKey adds a key without an audit entry, as a fixture does; the caller has
// hashed its secret. A missing id or creation time is filled in.
func ImportKey(tx Tx, k APIKey) (APIKey, error) {
	k, err := completeKey(tx, k)
	if err != nil {
		return APIKey{}, err
	}
	return k, tx.PutAPIKey(k)
}

// completeKey fills in the missing fields of a new key and checks it.
func completeKey(tx Tx, k APIKey) (APIKey, error) {
	fillIn(tx, PrefixAPIKey, &k.ID, &k.CreatedAt)
	k.Told = k.toldBy(tx.Now()) // what lies behind is not told
	_, err := tx.APIKey(k.ID)
	return k, cmp.Or(k.check(), checkHappened(tx, "createdAt", k.CreatedAt), checkHappened(tx, "revokedAt", k.RevokedAt),
		checkOrg(tx, k.OrgID), checkPullable(tx, k), checkNew(err, "id", "an API key %s exists already", k.ID))
}

// checkPullable checks that the endpoints of a key are pulled, each named once. Those of a
// revoked one may be gone.
func checkPullable(tx Tx, k APIKey) error {
	if !k.RevokedAt.IsZero() {
		return nil
	}
	for i, id := range k.Endpoints {
		e, err := tx.Endpoint(k.OrgID, id)
		switch {
		case IsNotFound(err):
			return Invalid("endpoints", "the org has no endpoint %.64q", id)
		case err != nil:
			return err
		case !e.Pull():
			return Invalid("endpoints", "events are sent to the endpoint %q", id).Advise("name endpoints of the kind pull")
		case slices.Contains(k.Endpoints[:i], id):
			return Invalid("endpoints", "%q is given twice", id)
		}
	}
	return nil
}

// MayPull reports whether the key's endpoints include one.
func (k *APIKey) MayPull(endpointID string) bool {
	return len(k.Endpoints) == 0 || slices.Contains(k.Endpoints, endpointID)
}

// leaveKeys takes a removed endpoint from the keys that name it, and revokes those that
// could pull from no other: without any they could pull from all.
func leaveKeys(tx Tx, actorID, orgID, endpointID string) error {
	for after := ""; ; {
		keys, err := tx.APIKeys(orgID, after, chunk)
		if err != nil || len(keys) == 0 {
			return err
		}
		for _, k := range keys {
			i := slices.Index(k.Endpoints, endpointID)
			switch {
			case i < 0:
			case len(k.Endpoints) == 1:
				err = RevokeKey(tx, actorID, orgID, k.ID)
			default:
				k.Endpoints = slices.Delete(slices.Clone(k.Endpoints), i, i+1)
				err = tx.PutAPIKey(k)
			}
			if err != nil {
				return err
			}
		}
		after = keys[len(keys)-1].ID
	}
}

// RevokeKey revokes a key of an org as of this commit, with its audit entry.
// Revoking a revoked key changes nothing. A signal tells that it ended, unless one has.
func RevokeKey(tx Tx, actorID, orgID, keyID string) error {
	k, err := FindKey(tx, orgID, keyID)
	if err != nil || !k.RevokedAt.IsZero() {
		return err
	}
	how := "revoked"
	if k.toldBy(tx.Now()) == toldEnded {
		how = "expired"
	}
	told := k.Told == toldEnded || k.Told == 0 && how == "expired"
	k.RevokedAt, k.Told = tx.Now(), toldEnded
	if err := auditBy(tx.PutAPIKey(k), tx, actorID, orgID, "apiKey.revoked", keyID); err != nil || told {
		return err
	}
	return signalEnded(tx, &k, how)
}

// CreatedKeys returns the keys of an org that are neither revoked nor expired, by
// creator. They work while their creator manages the org.
func CreatedKeys(tx Tx, orgID string) (map[string][]APIKey, error) {
	by := map[string][]APIKey{}
	for after := ""; ; {
		keys, err := tx.APIKeys(orgID, after, chunk)
		if err != nil || len(keys) == 0 {
			return by, err
		}
		for _, k := range keys {
			if access := (Access{Key: k, CreatorManages: true}); access.State(tx.Now()) == KeyActive {
				by[k.CreatedBy] = append(by[k.CreatedBy], k)
			}
		}
		after = keys[len(keys)-1].ID
	}
}

// revokeCreated revokes the keys that a user created.
func revokeCreated(tx Tx, actorID, orgID, userID string) error {
	by, err := CreatedKeys(tx, orgID)
	for _, k := range by[userID] {
		if err == nil {
			err = RevokeKey(tx, actorID, orgID, k.ID)
		}
	}
	return err
}

// FindKey finds a key of an org. notFound: the org has no such key.
func FindKey(tx Tx, orgID, keyID string) (APIKey, error) {
	k, err := tx.APIKey(keyID)
	if err == nil && k.OrgID != orgID || IsNotFound(err) {
		return APIKey{}, Errorf(CodeNotFound, "The org has no such API key.")
	}
	return k, err
}
