package store

import (
	"bytes"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Account is how a person signs in to the settings page. It is there while its
// user manages an org; what the person may do follows from the user's
// memberships at the time of each request.
type Account struct {
	UserID       string
	Email        string    // a name to sign in with, and where a link may be sent; may be empty
	PasswordHash string    // as the settings page made it; empty: none was chosen yet
	PasswordAt   time.Time // when it was chosen; zero: not yet
	Passkeys     []Passkey // in the order in which they were added, at most MaxPasskeys
	Sessions     []string  // ids of the sessions, oldest first, at most MaxSessions
	CreatedAt    time.Time
}

// Passkey is a WebAuthn credential of an account.
type Passkey struct {
	ID         string // as the authenticator gave it, in base64url
	Name       string // for people, 1 to 200 characters
	Credential []byte // what the settings page needs to check it, when added at most MaxCredential bytes
	CreatedAt  time.Time
	LastUsedAt time.Time // zero: never
}

// Bounds of an account.
const (
	MaxPasskeys   = 20
	MaxSessions   = 20      // when there are more, the oldest ends
	MaxCredential = 2 << 10 // bytes of a passkey's Credential
)

// Accounts keep how people sign in to the settings page.
type Accounts interface {
	Account(userID string) (Account, error)
	// AccountByEmail finds an account by its address, in lower case.
	AccountByEmail(email string) (Account, error)
	// PutAccount adds an account or changes it. An address that another account
	// has in upper or lower case: conflict.
	PutAccount(Account) error
	DeleteAccount(userID string) error
}

// FindAccount finds the account that a person names: by the user id, or else by
// the address, upper or lower case alike. notFound: there is none.
func FindAccount(tx Accounts, name string) (Account, error) {
	a, err := tx.Account(name)
	if IsNotFound(err) {
		a, err = tx.AccountByEmail(strings.ToLower(name))
	}
	if IsNotFound(err) {
		return Account{}, Errorf(CodeNotFound, "There is no such account.")
	}
	return a, err
}

// openAccount is the account of a member who manages, made if there is none. Its
// address becomes the member's; it has none while another account has that.
func openAccount(tx Tx, m Member) (Account, error) {
	a, err := tx.Account(m.UserID)
	if IsNotFound(err) {
		a, err = Account{UserID: m.UserID, CreatedAt: tx.Now()}, nil
	}
	if err != nil {
		return Account{}, err
	}
	switch other, err := tx.AccountByEmail(strings.ToLower(m.Email)); {
	case err == nil && other.UserID != a.UserID:
		a.Email = ""
	case err != nil && !IsNotFound(err):
		return Account{}, err
	default:
		a.Email = m.Email
	}
	return a, tx.PutAccount(a)
}

// changeAccount changes an account, unless change fails.
func changeAccount(tx Accounts, userID string, change func(*Account) error) error {
	a, err := tx.Account(userID)
	if err != nil {
		return err
	}
	if err := change(&a); err != nil {
		return err
	}
	return tx.PutAccount(a)
}

// SetPassword sets the hash of a password, and ends all sessions of the account
// but the one that is named, which may be empty.
func SetPassword(tx Tx, userID, hash, keepSession string) error {
	return changeAccount(tx, userID, func(a *Account) error {
		a.PasswordHash, a.PasswordAt = hash, tx.Now()
		return a.keepSession(tx, keepSession)
	})
}

// AddPasskey adds a passkey to an account. conflict: it has the passkey, or as
// many as it may have. The audit entry is passkey.added.
func AddPasskey(tx Tx, userID string, p Passkey) error {
	if err := checkText("name", p.Name, maxNameLength); err != nil {
		return err
	}
	if len(p.Credential) > MaxCredential {
		return Invalid("credential", "has %d bytes", len(p.Credential)).Advise("at most %d are allowed", MaxCredential)
	}
	err := changeAccount(tx, userID, func(a *Account) error {
		if len(a.Passkeys) >= MaxPasskeys {
			return Errorf(CodeConflict, "An account has at most %d passkeys.", MaxPasskeys).Advise("Remove one first.")
		}
		if a.passkey(p.ID) >= 0 {
			return Errorf(CodeConflict, "The account has this passkey already.")
		}
		p.CreatedAt = tx.Now()
		a.Passkeys = append(a.Passkeys, p)
		return nil
	})
	return AuditAccount(err, tx, userID, userID, auditPasskeyAdded)
}

// UsePasskey notes that a passkey was used, with what its next check needs. was is
// what it was checked with. conflict: it has been used since, so that its count may
// be ahead of the one that was checked.
func UsePasskey(tx Tx, userID, id string, was, credential []byte) error {
	return changePasskey(tx, userID, id, func(a *Account, i int) error {
		if !bytes.Equal(a.Passkeys[i].Credential, was) {
			return Errorf(CodeConflict, "The passkey was used in another place at the same time.").Advise("Try again.")
		}
		a.Passkeys[i].Credential, a.Passkeys[i].LastUsedAt = credential, tx.Now()
		return nil
	})
}

// RemovePasskey removes a passkey, with the audit entry passkey.removed. notFound:
// the account has no such one.
func RemovePasskey(tx Tx, userID, id string) error {
	err := changePasskey(tx, userID, id, func(a *Account, i int) error {
		a.Passkeys = slices.Delete(a.Passkeys, i, i+1)
		return nil
	})
	return AuditAccount(err, tx, userID, userID, auditPasskeyEnded)
}

// changePasskey changes the passkey at a place of an account.
func changePasskey(tx Accounts, userID, id string, change func(a *Account, i int) error) error {
	return changeAccount(tx, userID, func(a *Account) error {
		i := a.passkey(id)
		if i < 0 {
			return Errorf(CodeNotFound, "The account has no such passkey.")
		}
		return change(a, i)
	})
}

// passkey is the place of a passkey; -1 when there is none.
func (a *Account) passkey(id string) int {
	return slices.IndexFunc(a.Passkeys, func(p Passkey) bool { return p.ID == id })
}

// dropAccount drops the account of a user who manages no org any more.
func dropAccount(tx Tx, userID string) error {
	orgs, err := tx.ManagedOrgs(userID)
	if err != nil || len(orgs) > 0 {
		return err
	}
	a, err := tx.Account(userID)
	if IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := a.keepSession(tx, ""); err != nil {
		return err
	}
	return tx.DeleteAccount(userID)
}

// Bounds of a password, in characters. The upper one keeps hashing cheap.
const (
	MinPasswordLength = 12
	MaxPasswordLength = 200
)

// CheckPassword tells whether an account may have a password. What is refused
// names the field password.
func CheckPassword(a Account, password string) error {
	const field = "password"
	n := utf8.RuneCountInString(password)
	switch {
	case !utf8.ValidString(password):
		return Invalid(field, "must be text")
	case n < MinPasswordLength:
		return Invalid(field, "must have at least %d characters", MinPasswordLength).Advise("several words make a good one")
	case n > MaxPasswordLength:
		return Invalid(field, "must have at most %d characters", MaxPasswordLength)
	case strings.EqualFold(password, a.UserID), strings.EqualFold(password, a.Email):
		return Invalid(field, "must not be your user id or address")
	}
	return nil
}

// RenewPasswordHash replaces the hash of a password by another of the same
// password. Sessions and sign-in links stay. When the account has another hash by
// now, that stays too.
func RenewPasswordHash(tx Accounts, userID, old, renewed string) error {
	a, err := tx.Account(userID)
	if err != nil || a.PasswordHash != old {
		return err
	}
	a.PasswordHash = renewed
	return tx.PutAccount(a)
}
