package store

import (
	"strings"
	"unicode/utf8"
)

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
		return Invalid(field, "must have at least %d characters; several words make a good one", MinPasswordLength)
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
