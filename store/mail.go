package store

import (
	netmail "net/mail"
	"strings"
	"time"
	"unicode"
)

// Mail is a message that waits to be sent. What it says follows from its
// template and values.
type Mail struct {
	ID        string
	OrgID     string
	To        string // address
	Name      string // of the person; may be empty
	Template  string
	Values    map[string]string
	CreatedAt time.Time
	Attempts  int       // made so far
	DueAt     time.Time // of the next
}

// MailEndpointDisabled is the template of the mail that tells of a disabled
// endpoint. Its values are orgName, endpointId, endpointUrl, deliveryId,
// eventType, attempts, lastAttemptAt and lastReason.
const MailEndpointDisabled = "endpointDisabled"

// MailCertificateExpiring is the template of the mail that tells the operator of
// a certificate that was not renewed in time. Its values are certificate,
// expiresAt, and lastReason, which is empty when nothing is known to have failed.
const MailCertificateExpiring = "certificateExpiring"

// Mails keep the mail that waits to be sent.
type Mails interface {
	// PutMail adds a mail or changes it.
	PutMail(Mail) error
	DeleteMail(id string) error
	// Mails lists up to limit mails after an id, oldest first; from the first
	// when that is empty.
	Mails(after string, limit int) ([]Mail, error)
}

// MailOperator queues a mail to the operator, which belongs to no org.
func MailOperator(tx Tx, to, template string, values map[string]string) error {
	return queueMail(tx, Mail{To: to, Template: template, Values: values})
}

// queueMail gives a mail its id and times, and queues it.
func queueMail(tx Tx, m Mail) error {
	m.ID, m.CreatedAt, m.DueAt = tx.NewID(PrefixMail), tx.Now(), tx.Now()
	return tx.PutMail(m)
}

// MaxAddressLength is how many bytes of an address a mail server must take (RFC
// 5321, sections 4.5.3.1.3 and 4.1.2: a path of 256 with its brackets).
const MaxAddressLength = 254

// ValidAddress tells whether a text is one bare mail address. Quoted local parts
// ("a b"@example.com) are valid mail but hardly exist, and a header could be folded
// at their spaces.
func ValidAddress(text string) bool {
	a, err := netmail.ParseAddress(text)
	return err == nil && a.Address == text && len(text) <= MaxAddressLength &&
		!strings.ContainsFunc(text, func(r rune) bool { return r == ' ' || !unicode.IsPrint(r) })
}

// checkAddress holds an address that may be missing to its form.
func checkAddress(field, text string) error {
	if text == "" || ValidAddress(text) {
		return nil
	}
	return Invalid(field, "is not a mail address").Advise("write one such as ada@acme.example, without a name or brackets, in at most %d bytes", MaxAddressLength)
}

// MailTTL is how long a mail may wait: what could not be sent by then is no
// news any more.
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

// DefaultMailSchedule is how long after each failed try a mail is tried again;
// the last counts for every later one, until MailTTL.
var DefaultMailSchedule = []time.Duration{time.Minute, 5 * time.Minute, 25 * time.Minute, 2 * time.Hour}

// PostponeMail counts a try to send a mail that failed, and returns when it is
// due again: zero when it was given up.
func PostponeMail(tx Tx, m Mail, schedule []time.Duration) (time.Time, error) {
	pause := schedule[min(m.Attempts, len(schedule)-1)]
	m.Attempts++
	m.DueAt = tx.Now().Add(pause)
	if m.DueAt.Sub(m.CreatedAt) > MailTTL {
		return time.Time{}, tx.DeleteMail(m.ID)
	}
	return m.DueAt, tx.PutMail(m)
}
