package store

import (
	"cmp"
	"time"

	"teamdata/store/rows"
)

// OperatorToken grants access to the admin API over HTTPS, for all orgs. In a
// request it has the form `<id>.<secret>`, like an API key.
type OperatorToken struct {
	ID         string
	Name       string     // for people, 1 to 200 characters
	SecretHash SecretHash // of the part of the token behind the period
	CreatedAt  time.Time
	ExpiresAt  time.Time // zero: never
}

var operatorTokens = rows.Define(&rows.Table[OperatorToken]{
	Kind: rows.Kind{Name: "operatorTokens", Noun: "operator token"},
	Key:  func(dst []byte, o *OperatorToken) []byte { return append(dst, o.ID...) },
	Fields: func(c *rows.Codec, o *OperatorToken) {
		c.Text(&o.ID)
		c.Text(&o.Name)
		c.Hash((*[32]byte)(&o.SecretHash))
		c.Time(&o.CreatedAt)
		c.Time(&o.ExpiresAt)
	},
})

func (t Tx) OperatorToken(id string) (OperatorToken, error) {
	return find(operatorTokens, t, t.Text(id))
}

// OperatorTokens lists the tokens in order of id.
func (t Tx) OperatorTokens() ([]OperatorToken, error) {
	return list(operatorTokens, t, rows.ByKey, rows.Bounds{}, unlimited)
}

func (t Tx) PutOperatorToken(o OperatorToken) error { return operatorTokens.Put(t.Tx, &o) }

func (t Tx) DeleteOperatorToken(id string) error {
	return operatorTokens.Drop(t.Tx, t.Text(id))
}

func (o OperatorToken) check() error {
	return cmp.Or(checkID("id", o.ID), checkText("name", o.Name, maxNameLength))
}

// ImportOperatorToken adds a token, as a fixture does. A missing id or creation
// time is filled in. conflict: the token exists already.
func ImportOperatorToken(tx Tx, o OperatorToken) error {
	fillIn(tx, PrefixOperator, &o.ID, &o.CreatedAt)
	_, err := tx.OperatorToken(o.ID)
	if err := cmp.Or(o.check(), checkHappened(tx, "createdAt", o.CreatedAt), checkNew(err, "id", "an operator token %s exists already", o.ID)); err != nil {
		return err
	}
	return tx.PutOperatorToken(o)
}

// CreateOperatorToken creates a token and returns it with its secret, which is
// not stored. An expiry must be in the future.
func CreateOperatorToken(tx Tx, name string, expiresAt time.Time) (o OperatorToken, secret string, err error) {
	if err := checkExpiry(tx, expiresAt); err != nil {
		return o, "", err
	}
	secret = NewSecret()
	o = OperatorToken{Name: name, SecretHash: HashSecret(secret), ExpiresAt: expiresAt}
	fillIn(tx, PrefixOperator, &o.ID, &o.CreatedAt)
	return o, secret, ImportOperatorToken(tx, o)
}

// RevokeOperatorToken removes a token. notFound: it doesn't exist.
func RevokeOperatorToken(tx Tx, id string) error {
	if _, err := tx.OperatorToken(id); err != nil {
		return err
	}
	return tx.DeleteOperatorToken(id)
}

// FindOperatorToken finds the token that a request presents. unauthorized: it
// is malformed, unknown, wrong or expired.
func FindOperatorToken(tx Tx, presented string) (OperatorToken, error) {
	refused := Errorf(CodeUnauthorized, "The operator token is malformed, unknown, wrong or expired.").Advise("Make one with: teamdata operator-token create")
	return findBySecret(presented, refused, tx.OperatorToken, func(o OperatorToken) (SecretHash, bool) {
		return o.SecretHash, o.ExpiresAt.IsZero() || tx.Now().Before(o.ExpiresAt)
	})
}

// checkExpiry checks that an expiry, if any, is in the future.
func checkExpiry(tx Tx, at time.Time) error {
	if !at.IsZero() && !at.After(tx.Now()) {
		return Invalid("expiresAt", "is in the past").Advise("give a time in the future, or leave it out for never")
	}
	return nil
}
