package store

import (
	"cmp"
	"maps"
	"time"

	"teamdata/store/rows"
)

// SignInLink lets an owner, admin or viewer choose a password, once; or, with a Portal,
// signs a person in without one. The link's token has the form `<id>.<secret>`, like an
// API key.
type SignInLink struct {
	ID         string
	UserID     string
	SecretHash SecretHash // of the part of the link's token behind the period
	CreatedAt  time.Time  // the link has no effect if the account or its password is newer
	ExpiresAt  time.Time
	Portal     Portal // zero: the link lets its user choose a password
}

// signInLinks may outlive their accounts.
var signInLinks = rows.Define(&rows.Table[SignInLink]{
	Kind: rows.Kind{Name: "signInLinks", Noun: "sign-in link"},
	Key:  func(dst []byte, l *SignInLink) []byte { return append(dst, l.ID...) },
	Fields: func(c *rows.Codec, l *SignInLink) {
		c.Text(&l.ID)
		c.Text(&l.UserID)
		c.Hash((*[32]byte)(&l.SecretHash))
		c.Time(&l.CreatedAt)
		c.Time(&l.ExpiresAt)
		portalFields(c, &l.Portal)
	},
	Owner: func(l *SignInLink) rows.Owner { return rows.Owner{User: l.UserID} },
	Only:  func(l *SignInLink) SignInLink { return SignInLink{ID: l.ID, UserID: l.UserID} },
})

func (t Tx) SignInLink(id string) (SignInLink, error) { return find(signInLinks, t, t.Text(id)) }

// SignInLinks lists up to limit links after an id, as Sessions does.
func (t Tx) SignInLinks(after string, limit int) ([]SignInLink, error) {
	return list(signInLinks, t, rows.ByKey, rows.After(after), limit)
}

func (t Tx) PutSignInLink(l SignInLink) error { return signInLinks.Put(t.Tx, &l) }

func (t Tx) DeleteSignInLink(id string) error { return signInLinks.Drop(t.Tx, t.Text(id)) }

// How long a sign-in link is valid.
const (
	DefaultSignInLinkTTL = 24 * time.Hour
	MailedSignInLinkTTL  = time.Hour // requested by a person who lost the password
	MaxSignInLinkTTL     = 7 * 24 * time.Hour
)

// CreateSignInLink creates a link for a member who may see the settings page and returns it
// with its token, which is not stored. notFound: the org has no such member;
// conflict: the member may see nothing.
func CreateSignInLink(tx Tx, orgID, userID string, ttl time.Duration) (l SignInLink, token string, err error) {
	m, err := findViewer(tx, orgID, userID, ttl)
	if err != nil {
		return l, "", err
	}
	if _, err := openAccount(tx, m); err != nil {
		return l, "", err
	}
	return newSignInLink(tx, userID, ttl)
}

// newSignInLink makes a link to an account, and its token.
func newSignInLink(tx Tx, userID string, ttl time.Duration) (l SignInLink, token string, err error) {
	secret := NewSecret()
	l = SignInLink{
		ID: tx.NewID(PrefixSignInLink), UserID: userID, SecretHash: HashSecret(secret),
		CreatedAt: tx.Now(), ExpiresAt: tx.Now().Add(ttl),
	}
	return l, l.ID + "." + secret, tx.PutSignInLink(l)
}

// findViewer finds a member who may get a link.
func findViewer(tx Tx, orgID, userID string, ttl time.Duration) (Member, error) {
	if ttl <= 0 || ttl > MaxSignInLinkTTL {
		return Member{}, Invalid("expiresIn", "must be more than 0 and at most %d days", MaxSignInLinkTTL/(24*time.Hour))
	}
	m, err := findMember(tx, orgID, userID)
	if err != nil {
		return m, err
	}
	if !m.MaySee() {
		return m, Errorf(CodeConflict, "%q is not an owner, admin or viewer of the org. Only they can sign in to the settings page.", userID)
	}
	return m, nil
}

var errLinkRefused = Errorf(CodeUnauthorized, "The link was used already, or is too old.").Advise("Ask for another.")

// FindSignInLink finds the link of a token. unauthorized: it is malformed,
// unknown, wrong, used or expired, or its user has since chosen a password or
// ceased to see any org for a while; that of a portal: it no longer holds.
func FindSignInLink(tx Tx, token string) (SignInLink, error) {
	refused := errLinkRefused
	l, err := findBySecret(token, refused, tx.SignInLink, func(l SignInLink) (SecretHash, bool) {
		return l.SecretHash, tx.Now().Before(l.ExpiresAt)
	})
	if err != nil {
		return SignInLink{}, err
	}
	if l.Portal.Is() {
		holds, err := l.Portal.Holds(tx, l.UserID)
		if err != nil || !holds {
			return SignInLink{}, cmp.Or[error](err, refused)
		}
		return l, nil
	}
	a, err := tx.Account(l.UserID)
	if IsNotFound(err) || err == nil && (a.PasswordAt.After(l.CreatedAt) || a.CreatedAt.After(l.CreatedAt)) {
		return SignInLink{}, refused
	}
	return l, err
}

// UseSignInLink uses up a link: it sets the hash of the password that was chosen,
// ends the account's sessions, and removes its passkeys unless keepPasskeys,
// since one may be somebody else's (one audit entry passkey.removed).
// unauthorized: as FindSignInLink, or the link is one of a portal.
func UseSignInLink(tx Tx, token, passwordHash string, keepPasskeys bool) (SignInLink, error) {
	l, err := FindSignInLink(tx, token)
	if err != nil {
		return l, err
	}
	if l.Portal.Is() {
		return l, errLinkRefused
	}
	if err := tx.DeleteSignInLink(l.ID); err != nil {
		return l, err
	}
	if !keepPasskeys {
		removed := 0
		err := changeAccount(tx, l.UserID, func(a *Account) error { removed, a.Passkeys = len(a.Passkeys), nil; return nil })
		if removed > 0 {
			err = AuditAccount(err, tx, l.UserID, l.UserID, auditPasskeyEnded)
		}
		if err != nil {
			return l, err
		}
	}
	return l, SetPassword(tx, l.UserID, passwordHash, "")
}

func expiredSignInLink(l SignInLink, now time.Time) (id string, yes bool) {
	return l.ID, !now.Before(l.ExpiresAt)
}

// dropSignInLink drops a link that is too old.
func dropSignInLink(tx Tx, id string) (bool, error) {
	if _, err := tx.SignInLink(id); err != nil {
		return false, unlessNotFound(err)
	}
	return true, tx.DeleteSignInLink(id)
}

// MailSignInLink is the template of the mail with a sign-in link. It is queued
// with the values userId and until; orgName and token are added on sending, so no
// token is stored in the data file.
const MailSignInLink = "signInLink"

// QueueSignInLink queues a mail with a link for a member who may see the settings page, to
// the account's address, and returns the address. notFound: the org has no such
// member; conflict: the member may see nothing, or has no address.
func QueueSignInLink(tx Tx, orgID, userID string, ttl time.Duration) (to string, err error) {
	m, err := findViewer(tx, orgID, userID, ttl)
	if err != nil {
		return "", err
	}
	a, err := openAccount(tx, m)
	if err != nil {
		return "", err
	}
	if a.Email == "" {
		return "", Errorf(CodeConflict, "%q has no address of their own to send mail to.", userID).
			Advise("Set one with: teamdata member update %s --email ADDRESS", userID)
	}
	return a.Email, queueMail(tx, Mail{
		OrgID: orgID, To: a.Email, Name: m.Name, Template: MailSignInLink,
		Values: map[string]string{"userId": userID, "until": FormatTime(tx.Now().Add(ttl))},
	})
}

// SignInLinkValues creates the link of a queued mail and returns all of the
// mail's values. When a mail is sent again, the earlier link stays valid: it may
// have arrived after all. notFound, conflict: no link can be sent any more, since
// it would have expired or the member may see nothing.
func SignInLinkValues(tx Tx, queued Mail) (map[string]string, error) {
	values := maps.Clone(queued.Values)
	until, err := time.Parse(time.RFC3339, values["until"])
	if err != nil || !tx.Now().Before(until) {
		return nil, Errorf(CodeConflict, "The link has expired.")
	}
	org, err := tx.Org(queued.OrgID)
	if err != nil {
		return nil, err
	}
	values["orgName"] = org.Name
	_, values["token"], err = CreateSignInLink(tx, queued.OrgID, values["userId"], until.Sub(tx.Now()))
	return values, err
}

// FirstOwner returns the owner who should get the first link: the first owner of
// the first org that has one, while nobody can sign in yet. notFound: somebody
// can, or there is no owner. It reads the first 100 orgs.
func FirstOwner(tx Tx) (Member, error) {
	none := Errorf(CodeNotFound, "No owner is waiting for a first sign-in link.")
	orgs, err := tx.Orgs("", 100)
	if err != nil {
		return Member{}, err
	}
	var first Member
	for _, org := range orgs {
		managers, err := tx.Managers(org.ID)
		if err != nil {
			return Member{}, err
		}
		for _, m := range managers {
			if _, err := tx.Account(m.UserID); !IsNotFound(err) {
				return Member{}, cmp.Or[error](err, none)
			}
			if first.UserID == "" && m.Role == RoleOwner {
				first = m
			}
		}
	}
	if first.UserID == "" {
		return Member{}, none
	}
	return first, nil
}
