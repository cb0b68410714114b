package mail

import (
	"crypto/fips140"
	"crypto/tls"
	"errors"
	"fmt"
	"net/textproto"
	"slices"
	"strings"

	gomail "github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"
)

// mechanism is a way to log in.
type mechanism struct {
	name     gomail.SMTPAuthType
	approved bool // FIPS 140-3 has nothing against it; where that is enforced, MD5, MD4 and SHA-1 end the program
	auth     func(l *login, connection *tls.ConnectionState) smtp.Auth
}

// mechanisms are those that are known, the strongest first.
var mechanisms = []mechanism{
	{gomail.SMTPAuthSCRAMSHA256PLUS, false, func(l *login, c *tls.ConnectionState) smtp.Auth {
		return smtp.ScramSHA256PlusAuth(l.user, l.password, c)
	}},
	{gomail.SMTPAuthSCRAMSHA256, true, func(l *login, _ *tls.ConnectionState) smtp.Auth { return smtp.ScramSHA256Auth(l.user, l.password) }},
	{gomail.SMTPAuthSCRAMSHA1PLUS, false, func(l *login, c *tls.ConnectionState) smtp.Auth {
		return smtp.ScramSHA1PlusAuth(l.user, l.password, c)
	}},
	{gomail.SMTPAuthSCRAMSHA1, false, func(l *login, _ *tls.ConnectionState) smtp.Auth { return smtp.ScramSHA1Auth(l.user, l.password) }},
	{gomail.SMTPAuthNTLM, false, func(l *login, _ *tls.ConnectionState) smtp.Auth { return smtp.NTLMAuth(l.user, l.password, "") }},
	{gomail.SMTPAuthCramMD5, false, func(l *login, _ *tls.ConnectionState) smtp.Auth { return smtp.CRAMMD5Auth(l.user, l.password) }},
	{gomail.SMTPAuthPlain, true, func(l *login, _ *tls.ConnectionState) smtp.Auth {
		return smtp.PlainAuth("", l.user, l.password, l.host, false)
	}},
	{gomail.SMTPAuthLogin, true, func(l *login, _ *tls.ConnectionState) smtp.Auth {
		return smtp.LoginAuth(l.user, l.password, l.host, false)
	}},
}

var (
	errNoAuth       = errors.New("server does not support SMTP AUTH")
	errNoneApproved = errors.New("it offers no way to log in that FIPS 140-3 allows: have it offer SCRAM-SHA-256, PLAIN or LOGIN")
	errNoneKnown    = errors.New("it offers no supported way to log in: have it offer SCRAM-SHA-256, PLAIN or LOGIN")
)

// login logs in to a mail server: by the strongest mechanism that it offers, and after
// a refusal by the next one. Some offer what they can't do for this user, such as one
// that takes the password in plain text where they keep only its hash.
type login struct {
	user, password, host string

	tried []gomail.SMTPAuthType
	again bool // the server refused the last one, and offers others
}

// in logs in, with one mechanism: a refusal ends the session.
func (l *login) in(session *smtp.Client) error {
	if l.again = false; l.user == "" {
		return nil
	}
	offers, names := session.Extension("AUTH")
	if !offers {
		return errNoAuth
	}
	left := slices.DeleteFunc(slices.Clone(mechanisms), func(m mechanism) bool {
		return fips140.Enforced() && !m.approved || slices.Contains(l.tried, m.name) || !slices.Contains(strings.Fields(names), string(m.name))
	})
	switch {
	case len(left) > 0:
	case fips140.Enforced():
		return errNoneApproved
	default:
		return errNoneKnown
	}
	connection, _ := session.GetTLSConnectionState() // a password goes over TLS alone
	l.tried = append(l.tried, left[0].name)
	if err := session.Auth(left[0].auth(l, connection)); err != nil {
		answer, refused := errors.AsType[*textproto.Error](err)
		l.again = refused && answer.Code/100 == 5 && len(left) > 1
		return fmt.Errorf("SMTP AUTH failed: %w", err)
	}
	return nil
}
