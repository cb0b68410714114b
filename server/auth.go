package server

import (
	"context"
	"strings"
	"sync"

	"teamdata/store"
)

// checkKey finds the request's API key. Its failures are 401, except a storage
// fault.
func (r *request) checkKey() error {
	id, secret, err := bearerKey(r.HTTP.Header["Authorization"])
	if err != nil {
		return err
	}
	known, err := r.s.accessOf(r.HTTP.Context(), id, secret)
	if err != nil {
		return err
	}
	r.access = known.Access
	if err := unusable[r.access.State(r.now)]; err != nil {
		return err
	}
	if c := connectionOf(r.HTTP); c != nil {
		c.known.Store(true)
	}
	r.s.keyUse.use(usedKey{r.access.Key.OrgID, id}, &known.used, r.now)
	return nil
}

// A client without the secret learns nothing about the key from the answer: a
// malformed key gets the same text as an unknown one and a wrong one.
var (
	errNoKey    = store.Errorf(store.CodeUnauthorized, "The API key is missing. Send the header Authorization: Bearer <id>.<secret>, once.")
	errWrongKey = store.Errorf(store.CodeUnauthorized, "The API key is not valid.")
)

// unusable is why a key with the right secret no longer works.
var unusable = map[store.KeyState]error{
	store.KeyRevoked:   store.Errorf(store.CodeUnauthorized, "The API key was revoked."),
	store.KeyExpired:   store.Errorf(store.CodeUnauthorized, "The API key has expired."),
	store.KeySuspended: store.Errorf(store.CodeUnauthorized, "The API key's creator may no longer manage keys. An owner or an administrator has to make a new one."),
}

// bearerKey parses the key in the values of the Authorization header.
func bearerKey(values []string) (id, secret string, err error) {
	if len(values) == 0 || values[0] == "" && len(values) == 1 {
		return "", "", errNoKey
	}
	scheme, key, _ := strings.Cut(values[0], " ")
	if len(values) > 1 || !strings.EqualFold(scheme, "Bearer") {
		return "", "", errWrongKey
	}
	id, secret, ok := store.CutKey(strings.TrimLeft(key, " "))
	if !ok {
		return "", "", errWrongKey
	}
	return id, secret, nil
}

// accessOf returns the Access of the key with this id, if the secret is its
// own.
func (s *Server) accessOf(ctx context.Context, id, secret string) (*cachedAccess, error) {
	// Read before the data: the data cached under it may be newer, never older.
	generation := s.store.AccessGeneration()
	known := s.keys.get(id, generation)
	isNew := known == nil
	if isNew {
		access, err := s.loadAccess(ctx, id)
		if err != nil {
			return nil, err
		}
		known = &cachedAccess{generation: generation, Access: access}
	}
	if !known.Key.SecretHash.Matches(secret) {
		return nil, errWrongKey
	}
	if isNew {
		s.keys.put(known)
	}
	return known, nil
}

// loadAccess reads the Access of a key from the store. For an unknown key it
// returns the zero Access, which no secret matches, so that timing reveals
// nothing.
func (s *Server) loadAccess(ctx context.Context, id string) (*store.Access, error) {
	var access store.Access
	err := s.store.View(ctx, func(tx store.Tx) (err error) {
		access, err = store.LoadAccess(tx, id)
		return err
	})
	if err != nil && !store.IsNotFound(err) {
		return nil, err
	}
	return &access, nil
}

// accessCache caches the results of LoadAccess while the store's generation stays
// the same. Only keys whose secret was presented are cached. The zero value is
// ready to use.
type accessCache struct {
	mu   sync.RWMutex
	byID map[string]*cachedAccess
}

type cachedAccess struct {
	generation uint64
	*store.Access
	used minute
}

const maxCachedKeys = 10_000

// get returns the cached Access of a key, or nil.
func (c *accessCache) get(id string, generation uint64) *cachedAccess {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if cached, ok := c.byID[id]; ok && cached.generation == generation {
		return cached
	}
	return nil
}

func (c *accessCache) put(a *cachedAccess) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byID == nil || len(c.byID) >= maxCachedKeys {
		c.byID = make(map[string]*cachedAccess)
	}
	c.byID[a.Key.ID] = a
}
