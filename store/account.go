package store

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"teamdata/store/rows"
)

// Account is how a person signs in to the settings page. It exists while its user
// is owner, admin or viewer of an org; permissions follow from the user's memberships at the time of
// each request.
type Account struct {
	UserID       string
	Email        string    // a name to sign in with, and the address for links; empty: there is none
	PasswordHash string    // Argon2id in the PHC string format; empty: no password was chosen; sealed in a sealed file
	PasswordAt   time.Time // when the password was chosen; zero: not yet
	Passkeys     []Passkey // in the order in which they were added; see MaxPasskeys
	Sessions     []string  // ids of its records in `sessions`, oldest first; see MaxSessions
	CreatedAt    time.Time
	SignInName   string // another name to sign in with, ignoring case; nobody has proven the address of an account with one; empty: there is none
}

// Called is what the person knows the account by: the sign-in name, or else the address, or
// the user id.
func (a Account) Called() string { return cmp.Or(a.SignInName, a.Email, a.UserID) }

// SignedIn reports whether anybody has signed in to the account yet.
func (a Account) SignedIn() bool {
	return !a.PasswordAt.IsZero() || len(a.Passkeys) > 0 || len(a.Sessions) > 0
}

// Passkey is a WebAuthn credential of an account.
type Passkey struct {
	ID         string // of the WebAuthn credential, in base64url
	Name       string // for people, 1 to 200 characters
	Credential []byte // JSON: the public key and what else a check needs; at most 2 KiB when it is added; see MaxCredential
	CreatedAt  time.Time
	LastUsedAt time.Time // zero: never
}

// Bounds of an account.
const (
	MaxPasskeys   = 20
	MaxSessions   = 20      // beyond that, the oldest ends
	MaxCredential = 2 << 10 // bytes of a passkey's Credential
	MaxSignInName = 64      // bytes
)

var accounts = rows.Define(&rows.Table[Account]{
	Kind: rows.Kind{Name: "accounts", Noun: "account", Owner: rows.UserInKey},
	Key:  func(dst []byte, a *Account) []byte { return append(dst, a.UserID...) },
	Fields: func(c *rows.Codec, a *Account) {
		c.Text(&a.UserID)
		c.Text(&a.Email)
		c.Text(&a.PasswordHash)
		c.Time(&a.PasswordAt)
		rows.List(c, &a.Passkeys, func(c *rows.Codec, p *Passkey) { rows.Inner(c, passkeyFields, p) })
		c.Texts(&a.Sessions)
		c.Time(&a.CreatedAt)
		if c.Reading() || a.SignInName != "" { // an earlier teamdata reads accounts without one
			c.Text(&a.SignInName)
		}
	},
	Secrets: func(a *Account) []rows.Secret { return []rows.Secret{{Name: "passwordHash", Text: &a.PasswordHash}} },
	By: []rows.By[Account]{
		accountsBy("accountEmails", func(a *Account) string { return a.Email }),
		accountsBy("accountNames", func(a *Account) string { return a.SignInName }),
	},
})

// The indexes of accounts, in which a text names one account, whatever its case.
const (
	accountEmails = iota
	accountNames
)

func accountsBy(index string, text func(*Account) string) rows.By[Account] {
	return rows.By[Account]{
		Index: rows.Index{Name: index, Record: func(dst, _, userID []byte) []byte { return append(dst, userID...) }},
		Key:   func(dst []byte, a *Account) []byte { return append(dst, strings.ToLower(text(a))...) },
		Value: func(dst []byte, a *Account) []byte { return append(dst, a.UserID...) },
	}
}

func passkeyFields(c *rows.Codec, p *Passkey) {
	c.Text(&p.ID)
	c.Text(&p.Name)
	c.Bytes(&p.Credential)
	c.Time(&p.CreatedAt)
	c.Time(&p.LastUsedAt)
}

// An account and its sessions refer to each other.
func init() {
	accounts.Checks = func(c *rows.Checker, _ []byte, a *Account) {
		c.LookIn(&members.Kind, seeing, rows.Within(rows.Part(nil, a.UserID)), func(there bool) {
			if !there { // nor a removed org, of which members are left
				c.Fault("accounts %q: may see no org", a.UserID)
			}
		})
		for _, id := range a.Sessions {
			c.Look(&sessions.Kind, []byte(id), func(value []byte) {
				s, err := sessions.Read([]byte(id), value)
				switch {
				case value == nil:
					c.Fault("accounts %q: its session %q is missing", a.UserID, id)
				case err == nil && s.UserID != a.UserID:
					c.Fault("accounts %q: its session %q is that of %q", a.UserID, id, s.UserID)
				}
			})
		}
	}
	sessions.Checks = func(c *rows.Checker, _ []byte, s *Session) {
		if s.Portal.Is() { // it is in no account
			return
		}
		c.Look(&accounts.Kind, []byte(s.UserID), func(value []byte) {
			a, err := accounts.Read([]byte(s.UserID), value)
			if err == nil && !slices.Contains(a.Sessions, s.ID) {
				c.Fault("sessions %q: is not among those of the account %q", s.ID, s.UserID)
			}
		})
	}
}

func (t Tx) Account(userID string) (Account, error) { return find(accounts, t, t.Text(userID)) }

// AccountByEmail finds an account by its address, ignoring case.
func (t Tx) AccountByEmail(email string) (Account, error) { return t.accountBy(accountEmails, email) }

// accountBy finds an account by a text in an index, ignoring case.
func (t Tx) accountBy(index int, text string) (Account, error) {
	userID, err := t.userOf(index, text)
	if err != nil {
		return Account{}, err
	}
	return t.Account(userID)
}

// userOf is whose account has a text in an index; empty: none has it.
func (t Tx) userOf(index int, text string) (userID string, err error) {
	if text == "" {
		return "", nil
	}
	only := rows.Range{Index: index, Bounds: rows.Only(strings.ToLower(text)), Limit: 1}
	err = t.Scan(&accounts.Kind, only, func(item rows.Item) bool {
		userID = string(item.Value)
		return true
	})
	return userID, err
}

// PutAccount adds or replaces an account. conflict: another account has the
// address or the sign-in name, ignoring case.
func (t Tx) PutAccount(a Account) error {
	for index, text := range []string{accountEmails: a.Email, accountNames: a.SignInName} {
		other, err := t.userOf(index, text)
		switch {
		case err != nil:
			return err
		case other == "" || other == a.UserID:
		case index == accountNames:
			return errNameTaken
		default:
			return Errorf(CodeConflict, "Another account has this address.")
		}
	}
	return accounts.Put(t.Tx, &a)
}

func (t Tx) DeleteAccount(userID string) error { return accounts.Drop(t.Tx, t.Text(userID)) }

// FindAccount finds an account by what a person signs in with: the sign-in name, the user
// id, or the address, ignoring case, and the form of the address's domain. notFound: there
// is none. A name exactly as it was chosen comes before a user id, and that before a name
// whose case differs: so neither takes the place of the other.
func FindAccount(tx Tx, name string) (Account, error) {
	a, err := tx.accountBy(accountNames, name)
	if err != nil && !IsNotFound(err) || err == nil && a.SignInName == name {
		return a, err
	}
	if byID, errID := tx.Account(name); !IsNotFound(errID) {
		return byID, errID
	}
	if IsNotFound(err) {
		a, err = accountByAddress(tx, name)
	}
	if IsNotFound(err) {
		return Account{}, Errorf(CodeNotFound, "There is no such account.")
	}
	return a, err
}

// accountByAddress finds an account by its address. An older one may have an address whose
// domain is not in ASCII.
func accountByAddress(tx Tx, address string) (Account, error) {
	a, err := tx.AccountByEmail(ASCIIAddress(address))
	if IsNotFound(err) {
		a, err = tx.AccountByEmail(address)
	}
	return a, err
}

// openAccount returns the account of a member who may sign in, creating it if needed. It
// takes the member's address, or none while another account has that address. One that has
// not proven it gives it up.
func openAccount(tx Tx, m Member) (Account, error) {
	a, err := accountOrNew(tx, m.UserID)
	if err != nil {
		return Account{}, err
	}
	other, err := otherWithAddress(tx, a, m)
	if err == nil && other.SignInName != "" && a.SignInName == "" {
		other.Email = ""
		err = tx.PutAccount(other)
	}
	if err != nil {
		return Account{}, err
	}
	if a.Email = ""; other.Email == "" {
		a.Email = ASCIIAddress(m.Email)
	}
	return a, tx.PutAccount(a)
}

// accountOrNew is the account of a user, or a new one that isn't stored yet.
func accountOrNew(tx Tx, userID string) (Account, error) {
	a, err := tx.Account(userID)
	if IsNotFound(err) {
		return Account{UserID: userID, CreatedAt: tx.Now()}, nil
	}
	return a, err
}

// otherWithAddress is the account with a member's address that is not the member's own; zero:
// there is none.
func otherWithAddress(tx Tx, own Account, m Member) (Account, error) {
	other, err := accountByAddress(tx, m.Email)
	if err != nil || other.UserID == own.UserID {
		return Account{}, unlessNotFound(err)
	}
	return other, nil
}

// changeAccount applies change to an account and stores it unless change fails.
func changeAccount(tx Tx, userID string, change func(*Account) error) error {
	a, err := tx.Account(userID)
	if err != nil {
		return err
	}
	if err := change(&a); err != nil {
		return err
	}
	return tx.PutAccount(a)
}

// SetPassword sets the password hash and ends all sessions of the account except
// keepSession, which may be empty.
func SetPassword(tx Tx, userID, hash, keepSession string) error {
	return changeAccount(tx, userID, func(a *Account) error {
		a.PasswordHash, a.PasswordAt = hash, tx.Now()
		return a.keepSession(tx, keepSession)
	})
}

// AddPasskey adds a passkey to an account. conflict: the account already has it,
// or has MaxPasskeys. The audit entry is passkey.added.
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

// UsePasskey records a use of a passkey and the credential for its next check.
// was is the credential that this check used. conflict: the passkey has been used
// since, so its counter may be ahead of the checked one.
func UsePasskey(tx Tx, userID, id string, was, credential []byte) error {
	return changePasskey(tx, userID, id, func(a *Account, i int) error {
		if !bytes.Equal(a.Passkeys[i].Credential, was) {
			return Errorf(CodeConflict, "The passkey was used in another place at the same time.").Advise("Try again.")
		}
		a.Passkeys[i].Credential, a.Passkeys[i].LastUsedAt = credential, tx.Now()
		return nil
	})
}

// RemovePasskey removes a passkey, with the audit entry passkey.removed.
// notFound: the account has no such passkey.
func RemovePasskey(tx Tx, userID, id string) error {
	err := changePasskey(tx, userID, id, func(a *Account, i int) error {
		a.Passkeys = slices.Delete(a.Passkeys, i, i+1)
		return nil
	})
	return AuditAccount(err, tx, userID, userID, auditPasskeyEnded)
}

// changePasskey calls change with the index of a passkey of an account.
func changePasskey(tx Tx, userID, id string, change func(a *Account, i int) error) error {
	return changeAccount(tx, userID, func(a *Account) error {
		i := a.passkey(id)
		if i < 0 {
			return Errorf(CodeNotFound, "The account has no such passkey.")
		}
		return change(a, i)
	})
}

// passkey returns the index of a passkey, or -1.
func (a *Account) passkey(id string) int {
	return slices.IndexFunc(a.Passkeys, func(p Passkey) bool { return p.ID == id })
}

// dropAccount deletes the account of a user who may no longer see any org.
func dropAccount(tx Tx, userID string) error {
	orgs, err := tx.VisibleOrgs(userID)
	if err != nil || len(orgs) > 0 {
		return err
	}
	a, err := tx.Account(userID)
	if err != nil {
		return unlessNotFound(err)
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

// CheckPassword checks a new password for an account. Its errors name the field
// password.
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
	case slices.ContainsFunc([]string{a.UserID, a.Email, a.SignInName}, func(name string) bool { return strings.EqualFold(password, name) }):
		return Invalid(field, "must not be what you sign in with")
	}
	return nil
}

// RenewPasswordHash replaces the hash of a password with another hash of the same
// password. Sessions and sign-in links stay. If the account's hash is no longer
// old, nothing changes.
func RenewPasswordHash(tx Tx, userID, old, renewed string) error {
	a, err := tx.Account(userID)
	if err != nil || a.PasswordHash != old {
		return err
	}
	a.PasswordHash = renewed
	return tx.PutAccount(a)
}
