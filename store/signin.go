package store

import (
	"crypto/subtle"
	"time"
)

// SignInLink lets an owner or admin choose a password, once. The link's token
// has the form `<id>.<secret>`, as an API key has.
type SignInLink struct {
	ID         string
	UserID     string
	SecretHash SecretHash
	CreatedAt  time.Time
	ExpiresAt  time.Time
}

// How long a sign-in link works.
const (
	DefaultSignInLinkTTL = 24 * time.Hour
	MailedSignInLinkTTL  = time.Hour // of one that a person who lost the password asked for
	MaxSignInLinkTTL     = 7 * 24 * time.Hour
)

// CreateSignInLink makes a link for a member who manages an org, and returns it
// with its token, which is kept nowhere. notFound: the org has no such member;
// conflict: the member manages nothing.
func CreateSignInLink(tx Tx, orgID, userID string, ttl time.Duration) (l SignInLink, token string, err error) {
	m, err := findManager(tx, orgID, userID, ttl)
	if err != nil {
		return l, "", err
	}
	if _, err := openAccount(tx, m); err != nil {
		return l, "", err
	}
	secret := NewSecret()
	l = SignInLink{
		ID: tx.NewID(PrefixSignInLink), UserID: userID, SecretHash: HashSecret(secret),
		CreatedAt: tx.Now(), ExpiresAt: tx.Now().Add(ttl),
	}
	return l, l.ID + "." + secret, tx.PutSignInLink(l)
}

// findManager finds a member for whom a link may be made.
func findManager(tx Tx, orgID, userID string, ttl time.Duration) (Member, error) {
	if ttl <= 0 || ttl > MaxSignInLinkTTL {
		return Member{}, Invalid("expiresIn", "must be more than 0 and at most %d days", MaxSignInLinkTTL/(24*time.Hour))
	}
	m, err := findMember(tx, orgID, userID)
	if err != nil {
		return m, err
	}
	if !m.Manages() {
		return m, Errorf(CodeConflict, "%q is no owner or admin of the org. Only they have settings to look after.", userID)
	}
	return m, nil
}

// FindSignInLink finds the link of a token. unauthorized: it is malformed,
// unknown, wrong, used or expired, or since it was made its user chose a password
// or managed nothing for a while.
func FindSignInLink(tx Tx, token string) (SignInLink, error) {
	refused := Errorf(CodeUnauthorized, "The link was used already, or is too old. Ask for another.")
	id, secret, ok := CutKey(token)
	if !ok {
		return SignInLink{}, refused
	}
	l, err := tx.SignInLink(id)
	switch {
	case IsNotFound(err):
		return SignInLink{}, refused
	case err != nil:
		return SignInLink{}, err
	}
	a, err := tx.Account(l.UserID)
	if err != nil && !IsNotFound(err) {
		return SignInLink{}, err
	}
	hash := HashSecret(secret)
	if err != nil || subtle.ConstantTimeCompare(hash[:], l.SecretHash[:]) != 1 ||
		!tx.Now().Before(l.ExpiresAt) || a.PasswordAt.After(l.CreatedAt) || a.CreatedAt.After(l.CreatedAt) {
		return SignInLink{}, refused
	}
	return l, nil
}

// UseSignInLink uses up a link: it sets the hash of the password that was chosen,
// and ends the account's sessions. unauthorized: as FindSignInLink.
func UseSignInLink(tx Tx, token, passwordHash string) (SignInLink, error) {
	l, err := FindSignInLink(tx, token)
	if err != nil {
		return l, err
	}
	if err := tx.DeleteSignInLink(l.ID); err != nil {
		return l, err
	}
	return l, SetPassword(tx, l.UserID, passwordHash, "")
}

// dropSignInLink drops a link that is too old.
func dropSignInLink(tx Tx, l SignInLink) (id string, err error) {
	if tx.Now().Before(l.ExpiresAt) {
		return l.ID, nil
	}
	return l.ID, tx.DeleteSignInLink(l.ID)
}
