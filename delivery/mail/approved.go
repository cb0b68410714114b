package mail

import (
	"errors"
	"slices"

	"github.com/wneessen/go-mail/smtp"
)

// approved logs in with the strongest mechanism that FIPS 140-3 has nothing against.
// Where that is enforced, the MD5, MD4 and SHA-1 of the others end the program, and
// go-mail would fall back on them by itself.
type approved struct {
	user, password, host string
	smtp.Auth            // the one that was chosen
}

var (
	errNoAuth       = errors.New("server does not support SMTP AUTH") // as go-mail says it
	errNoneApproved = errors.New("it offers no way to log in that FIPS 140-3 allows: have it offer SCRAM-SHA-256, PLAIN or LOGIN")
)

// Start chooses among those that the server offers.
func (a *approved) Start(server *smtp.ServerInfo) (mechanism string, toServer []byte, err error) {
	switch offers := func(name string) bool { return slices.Contains(server.Auth, name) }; {
	case offers("SCRAM-SHA-256"):
		a.Auth = smtp.ScramSHA256Auth(a.user, a.password)
	case offers("PLAIN"):
		a.Auth = smtp.PlainAuth("", a.user, a.password, a.host, false)
	case offers("LOGIN"):
		a.Auth = smtp.LoginAuth(a.user, a.password, a.host, false)
	case len(server.Auth) == 0:
		return "", nil, errNoAuth
	default:
		return "", nil, errNoneApproved
	}
	return a.Auth.Start(server)
}
