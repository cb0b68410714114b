package mail

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	gomail "github.com/wneessen/go-mail"
)

// maxReason is in characters; a server may answer at any length.
const maxReason = 400

// failure is why a mail was not sent.
type failure struct {
	text      string // one line, without the password
	permanent bool
	cause     error
}

func (f *failure) Error() string { return f.text }
func (f *failure) Unwrap() error { return f.cause }

// Permanent reports whether err, returned by [Sender.Send], would recur on every
// retry: the server rejected this recipient or this text for good, the address is
// invalid, or the template is unknown or lacks a value. Errors of the server or of the
// settings are not permanent, since people fix those: no connection, TLS, AUTH, and
// whatever else a server rejects, such as the sender or to relay.
func Permanent(err error) bool {
	f, ok := errors.AsType[*failure](err)
	return ok && f.permanent
}

// failure describes the error of a failed delivery.
func (r *relay) failure(ctx context.Context, err error) error {
	permanent, cause := refused(err), err
	if ctx.Err() != nil && !permanent {
		// The connection was closed for that; err says no more.
		err, cause = context.Cause(ctx), ctx.Err()
	}
	text := short(maxReason, oneLine(r.redact(reason(err))))
	return &failure{fmt.Sprintf("mail server %s: %s", r.address, text), permanent, cause}
}

// enhanced is the code of RFC 3463 that a permanent answer begins with.
var enhanced = regexp.MustCompile(`\b5\d\d "?(5\.\d{1,3}\.\d{1,3})\b`)

// refused reports whether the server rejected this mail for good: because of its
// recipient, its size or its content. The code of RFC 3463 says so, if there is one.
// A 550 without one means that there is no such mailbox; the other codes of SMTP are
// about the settings just as often.
func refused(err error) bool {
	answer, ok := errors.AsType[*gomail.SendError](err)
	if !ok || answer.ErrorCode()/100 != 5 || answer.Reason == gomail.ErrSMTPMailFrom { // the sender is a setting
		return false
	}
	code := ""
	if found := enhanced.FindStringSubmatch(answer.Error()); found != nil {
		code = found[1]
	}
	switch subject, _, _ := strings.Cut(strings.TrimPrefix(code, "5."), "."); {
	case code == "5.1.7", code == "5.1.8", subject == "7": // the sender's address; a policy
		return false
	case code == "5.3.4", subject == "1", subject == "2", subject == "6":
		return true
	}
	return answer.ErrorCode() == 550
}

// reason describes err for the operator.
func reason(err error) string {
	var (
		answer      *gomail.SendError
		dns         *net.DNSError
		certificate *tls.CertificateVerificationError
	)
	switch {
	case errors.As(err, &answer):
		return step(answer)
	case errors.As(err, &dns):
		return fmt.Sprintf("DNS: %s: %s", dns.Name, dns.Err)
	case errors.As(err, &certificate):
		return "TLS: " + certificate.Err.Error()
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was closed before an answer came"
	case strings.HasSuffix(err.Error(), "does not support STARTTLS"): // go-mail has no type for it
		return "it offers no STARTTLS, and without TLS nothing is sent: use smtps://, or have it offer STARTTLS"
	}
	return err.Error()
}

// step names the command at which a mail failed, with the server's answer.
func step(answer *gomail.SendError) string {
	text, _, _ := strings.Cut(answer.Error(), ", affected ") // the rest is known: the recipient and the ID
	if answer.ErrorCode() == 0 {
		return "the connection broke while " + text
	}
	return text
}

// redactor hides the password in a server's answer: some servers echo a line that
// they did not understand.
func redactor(user *url.Userinfo) func(string) string {
	password, _ := user.Password()
	if password == "" {
		return func(s string) string { return s }
	}
	base := base64.StdEncoding.EncodeToString
	const hidden = "[redacted]"
	quoted := strconv.Quote(password)
	return strings.NewReplacer(
		base([]byte("\x00"+user.Username()+"\x00"+password)), hidden, // as AUTH PLAIN has it
		base([]byte(password)), hidden, // as AUTH LOGIN has it
		quoted[1:len(quoted)-1], hidden, // as errors quote an answer
		password, hidden,
	).Replace
}
