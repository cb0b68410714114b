package store

import (
	netmail "net/mail"
	"strings"
	"time"
	"unicode"

	"teamdata/internal/canonical"
	"teamdata/store/rows"
)

// Mail is a message waiting to be sent. Its text is made from its template and
// values.
type Mail struct {
	ID        string
	OrgID     string
	To        string            // address
	Name      string            // of the person; may be empty
	Template  string            // such as endpointDisabled
	Values    map[string]string // what the template is filled with
	CreatedAt time.Time
	Attempts  int       // made so far
	DueAt     time.Time // of the next
}

// MailEndpointDisabled is the template of the mail about a disabled endpoint. Its
// values are orgName, endpointId, endpointUrl, deliveryId, eventType, attempts,
// lastAttemptAt and lastReason.
const MailEndpointDisabled = "endpointDisabled"

// MailNotPulled is the template of the mail about an endpoint that nobody pulls from. Its
// values are orgName, endpointId, endpointName, waitingSince and pulledAt, which is empty if
// nobody ever has.
const MailNotPulled = "notPulled"

// MailAPIKeyExpiring is the template of the mail to the creator of a key that expires in 14
// days or 1 day. Its values are orgName, keyId, keyName, which may be empty, expiresAt and
// days.
const MailAPIKeyExpiring = "apiKeyExpiring"

// MailCertificateExpiring is the template of the mail to the operator about a
// certificate that was not renewed in time. Its values are certificate,
// expiresAt, and lastReason, which is empty when no failure is known.
const MailCertificateExpiring = "certificateExpiring"

var mails = rows.Define(&rows.Table[Mail]{
	Kind: rows.Kind{Name: "mails", Noun: "mail"},
	Key:  func(dst []byte, m *Mail) []byte { return append(dst, m.ID...) },
	Fields: func(c *rows.Codec, m *Mail) {
		c.Text(&m.ID)
		c.Text(&m.OrgID)
		c.Text(&m.To)
		c.Text(&m.Name)
		c.Text(&m.Template)
		c.Pairs(&m.Values)
		c.Time(&m.CreatedAt)
		c.Int(&m.Attempts)
		c.Time(&m.DueAt)
	},
	Owner: func(m *Mail) rows.Owner { return rows.Owner{Org: m.OrgID} },
})

// PutMail adds or replaces a mail.
func (t Tx) PutMail(m Mail) error { return mails.Put(t.Tx, &m) }

// Mail returns a mail, or notFound.
func (t Tx) Mail(id string) (Mail, error) { return find(mails, t, t.Text(id)) }

func (t Tx) DeleteMail(id string) error { return mails.Drop(t.Tx, t.Text(id)) }

// Mails lists up to limit mails after an id, oldest first; from the first
// when that is empty.
func (t Tx) Mails(after string, limit int) ([]Mail, error) {
	return list(mails, t, rows.ByKey, rows.After(after), limit)
}

// MailOperator queues a mail to the operator; it belongs to no org.
func MailOperator(tx Tx, to, template string, values map[string]string) error {
	return queueMail(tx, Mail{To: to, Template: template, Values: values})
}

// queueMail sets a mail's id and times, and queues it.
func queueMail(tx Tx, m Mail) error {
	m.ID, m.CreatedAt, m.DueAt = tx.NewID(PrefixMail), tx.Now(), tx.Now()
	return tx.PutMail(m)
}

// MaxAddressLength is how many bytes of an address a mail server must take (RFC
// 5321, sections 4.5.3.1.3 and 4.1.2: a path of 256 with its brackets).
const MaxAddressLength = 254

// ValidAddress reports whether text is a single bare mail address. It rejects
// quoted local parts ("a b"@example.com): they are valid but hardly used, and a
// header could be folded at their spaces.
func ValidAddress(text string) bool {
	a, err := netmail.ParseAddress(text)
	return err == nil && a.Address == text && len(text) <= MaxAddressLength &&
		!strings.ContainsFunc(text, func(r rune) bool { return r == ' ' || !unicode.IsPrint(r) })
}

// checkAddress checks the form of an optional address.
func checkAddress(field, text string) error {
	if text == "" || ValidAddress(text) {
		return nil
	}
	return Invalid(field, "is not a mail address").Advise("write one such as ada@acme.example, without a name or brackets, in at most %d bytes", MaxAddressLength)
}

// ASCIIAddress is an address as it is compared: with its domain in ASCII. Anything else
// stays as it is.
func ASCIIAddress(text string) string {
	if address, err := canonical.Address(text); err == nil {
		return address
	}
	return text
}

// SameAddress reports whether two addresses are one, whatever their case and the form of
// their domain.
func SameAddress(a, b string) bool { return strings.EqualFold(ASCIIAddress(a), ASCIIAddress(b)) }

// MailTTL is how long a mail may wait; a mail not sent by then is outdated.
const MailTTL = 3 * 24 * time.Hour

// mailManagers queues one mail to each owner and admin of the org that has an
// address.
func mailManagers(tx Tx, orgID, template string, values map[string]string) error {
	managers, err := tx.Managers(orgID)
	if err != nil {
		return err
	}
	for _, m := range managers {
		if m.Email == "" {
			continue
		}
		if err := queueMail(tx, Mail{OrgID: orgID, To: m.Email, Name: m.Name, Template: template, Values: values}); err != nil {
			return err
		}
	}
	return nil
}

// DefaultMailSchedule is the delay after each failed attempt to send a mail; the
// last one repeats until MailTTL.
var DefaultMailSchedule = []time.Duration{time.Minute, 5 * time.Minute, 25 * time.Minute, 2 * time.Hour}

// PostponeMail records a failed attempt to send a mail, as it was read before the
// attempt, and returns when the next is due; zero: the mail was given up. An attempt
// that was recorded before, here or by another node, counts once. notFound: the mail was
// sent or deleted meanwhile, and stays so.
func PostponeMail(tx Tx, m Mail, schedule []time.Duration) (time.Time, error) {
	kept, err := tx.Mail(m.ID)
	if err != nil || kept.Attempts > m.Attempts {
		return kept.DueAt, err
	}
	pause := schedule[min(m.Attempts, len(schedule)-1)]
	m.Attempts++
	m.DueAt = tx.Now().Add(pause)
	if m.DueAt.Sub(m.CreatedAt) > MailTTL {
		return time.Time{}, tx.DeleteMail(m.ID)
	}
	return m.DueAt, tx.PutMail(m)
}
