package storetest

import (
	"fmt"
	"time"

	"teamdata/store"
)

// maybe is a value, or nil: it is left as it is.
func maybe[T any](h *history, v T) *T {
	if h.IntN(2) == 0 {
		return nil
	}
	return &v
}

func (h *history) renameOrg() operation {
	org, name := h.org(), pick(h, []string{"Org", "Another", ""})
	return op(renameOrg(org, name), "rename %q to %q", org, name)
}

func (h *history) removePlan() operation {
	name := pick(h, append([]string{"free"}, h.names.plans...))
	return op(removePlan(name), "remove the plan %q", name)
}

func (h *history) changeMember() operation {
	org, user := h.org(), h.user()
	change := store.MemberChange{Role: maybe(h, h.role()), Name: maybe(h, pick(h, []string{"", "N", "\xff"})), Email: maybe(h, user+"@new.example")}
	return op(changeMember(org, user, change), "change %q of %q: %s", user, org, show(change.Role, change.Name, change.Email))
}

// show shows values that may be nil.
func show(values ...*string) (text string) {
	for _, v := range values {
		if v != nil {
			text += fmt.Sprintf("%q ", *v)
		} else {
			text += "- "
		}
	}
	return text
}

// makeKey is CreateKey, after which the key gets a secret that the oracle's has,
// too.
func (h *history) makeKey() operation {
	k := store.APIKey{ID: pick(h, h.names.keys), OrgID: h.org(), Scopes: store.ScopeWrite, CreatedBy: h.user()}
	if h.IntN(3) == 0 {
		k.ExpiresAt = h.importedTime()
	}
	return op(func(tx store.Tx) error {
		made, _, err := store.CreateKey(tx, "", k)
		if err != nil {
			return err
		}
		made.SecretHash = k.SecretHash
		return tx.PutAPIKey(made)
	}, "make key %q of %q in %q until %v", k.ID, k.CreatedBy, k.OrgID, k.ExpiresAt)
}

func (h *history) changeEndpoint() operation {
	org, id := h.org(), pick(h, h.names.endpoints)
	change := store.EndpointChange{URL: maybe(h, fmt.Sprintf("https://example.com/%d", h.IntN(3))), Description: maybe(h, "d")}
	if h.IntN(2) == 0 {
		change.Events = h.selection()
	}
	return op(changeEndpoint(org, id, change), "change endpoint %q of %q: %s%q", id, org, show(change.URL, change.Description), change.Events)
}

// selection is some event types, one of which may not be there.
func (h *history) selection() []string {
	all := append(h.names.types[:len(h.names.types):len(h.names.types)], store.BuiltInEventTypes...)
	from := h.IntN(len(all))
	return all[from : from+1+h.IntN(len(all)-from)]
}

func (h *history) removeEndpoint() operation {
	org, id := h.org(), pick(h, h.names.endpoints)
	return op(removeEndpoint(org, id), "remove endpoint %q of %q", id, org)
}

func (h *history) registerType() operation {
	e := store.EventType{Name: pick(h, h.names.types), Description: fmt.Sprint(h.IntN(3))}
	return op(register(e), "register %q as %s", e.Name, e.Description)
}

func (h *history) removeType() operation {
	name := pick(h, h.names.types)
	return op(removeType(name), "remove the event type %q", name)
}

// emit sends an event of a type that may not be there, but to those who select
// it.
func (h *history) emit() operation {
	org, name := h.org(), pick(h, h.names.types)
	return op(func(tx store.Tx) error { return second(store.Emit(tx, org, name, []byte("{}"))) }, "emit %q in %q", name, org)
}

func (h *history) importToken() operation {
	o := store.OperatorToken{ID: pick(h, h.names.tokens), Name: "n", CreatedAt: h.importedTime()}
	return op(func(tx store.Tx) error { return store.ImportOperatorToken(tx, o) }, "import the token %q", o.ID)
}

// createToken makes a token, whose secret is replaced as that of a key is.
func (h *history) createToken() operation {
	until := h.Clock.Now().Add(time.Duration(h.IntN(5)-1) * time.Hour)
	return op(func(tx store.Tx) error {
		o, _, err := store.CreateOperatorToken(tx, "made", until)
		if err != nil {
			return err
		}
		o.SecretHash = store.SecretHash{}
		return tx.PutOperatorToken(o)
	}, "make a token until %v", until)
}

// revokeToken revokes a token; one that was made, if there is.
func (h *history) revokeToken() operation {
	id := pick(h, h.names.tokens)
	return op(func(tx store.Tx) error {
		tokens, err := tx.OperatorTokens()
		if len(tokens) > 0 && tokens[len(tokens)-1].Name == "made" {
			id = tokens[len(tokens)-1].ID
		}
		if err != nil {
			return err
		}
		return store.RevokeOperatorToken(tx, id)
	}, "revoke a token, or %q", id)
}
