package pgstore

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
)

// Error is the reason why a database can't be used. Its text is one line for the
// operator, ending with the advice. It holds no password.
type Error struct {
	Place  string // of the database; empty while unknown
	Text   string // what is wrong; continues the place
	Advice string // what to do about it; may be empty
	Err    error  // the cause; may be nil
	Passes bool   // it may be otherwise soon, without a change of settings
}

func (e *Error) Error() string {
	text := "database " + e.Place + " " + e.Text
	if e.Place == "" {
		text = e.Text
	}
	if e.Advice != "" {
		text += "; " + e.Advice
	}
	return text
}

// Hint returns what to do about the error; it may be empty.
func (e *Error) Hint() string { return e.Advice }

func (e *Error) Unwrap() error { return e.Err }

// errURL stands for each URL that can't be read: pgconn's own words may quote a part
// of the password.
var errURL = &Error{
	Text:   "--data is not the URL of a PostgreSQL database",
	Advice: "write postgres://ROLE@HOST:5432/DATABASE, with special characters as %40 is for @",
}

// parseRefusal explains why a URL, or a file that it names, can't be read.
func parseRefusal(err error) error {
	text := err.Error()
	var file *fs.PathError
	switch {
	case errors.As(err, &file):
		return &Error{Text: fmt.Sprintf("--data: %s can't be read: %v", file.Path, file.Err), Advice: "correct the path, or its permissions", Err: file}
	case strings.Contains(text, "failed to read service"):
		return &Error{Text: "--data names a service that the service file does not have", Advice: "correct service, or PGSERVICE and PGSERVICEFILE"}
	case strings.Contains(text, "failed to configure TLS"):
		return &Error{Text: "--data: sslmode, sslrootcert, sslcert or sslkey is not valid", Advice: "sslmode is one of verify-full, verify-ca, require, prefer, allow and disable; the files are in PEM"}
	}
	return errURL
}

// refusal explains why the target can't be connected to; nil: it can.
func (t *Target) refusal(err error) error {
	if err == nil {
		return nil
	}
	e := explain(err)
	e.Place = t.place
	return e
}

// explain finds the most telling of the causes, which may be of several addresses.
func explain(err error) *Error {
	if own, ok := errors.AsType[*Error](err); ok {
		copied := *own
		return &copied
	}
	if server, ok := errors.AsType[*pgconn.PgError](err); ok {
		return explainServer(server)
	}
	var (
		authority x509.UnknownAuthorityError
		invalid   x509.CertificateInvalidError
		name      x509.HostnameError
		dns       *net.DNSError
	)
	e := &Error{Err: err}
	switch words := err.Error(); { // pgconn says some things in words only
	case strings.Contains(words, "server refused TLS connection"):
		e.Text, e.Advice = "does not support TLS", "set ssl=on there; only in a network of your own add sslmode=disable to --data"
	case errors.As(err, &name):
		e.Text, e.Advice = "has a certificate for another name than "+name.Host, "use a name of the certificate in --data"
	case errors.As(err, &authority):
		e.Text, e.Advice = "has a certificate issued by a CA that is not trusted here", "add sslrootcert=FILE to --data, with the CA's certificate"
	case errors.As(err, &invalid):
		e.Text, e.Advice = "has a certificate that is not valid: "+invalid.Error(), "renew it"
	case errors.As(err, new(*tls.CertificateVerificationError)), errors.As(err, new(tls.RecordHeaderError)), errors.As(err, new(tls.AlertError)):
		e.Text, e.Advice = "fails to agree on TLS", "see PostgreSQL's log"
	case strings.Contains(words, "server requested md5 authentication"):
		e.Text, e.Advice = "asks for the password's MD5", "set password_encryption = 'scram-sha-256', set the role's password again, and let pg_hba.conf ask for scram-sha-256"
	case errors.As(err, &dns):
		e.Text, e.Advice = "is not found: there is no host "+dns.Name, "correct the host in --data, or the name server"
	case errors.Is(err, context.DeadlineExceeded) || pgconn.Timeout(err):
		e.Text, e.Advice = "does not answer in time", "check host and port in --data, and the firewalls in between"
	case errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, fs.ErrNotExist):
		e.Text, e.Advice = "is down: nothing listens there", "start PostgreSQL, or correct host and port in --data"
	default:
		e.Text, e.Advice = "can't be reached", "check host and port in --data, and PostgreSQL's log"
	}
	return e
}

// explainServer explains a refusal by the server, or by a pooler in front of it.
func explainServer(err *pgconn.PgError) *Error {
	e := &Error{Err: err}
	if err.Code == "08P01" && strings.Contains(err.Message, "startup parameter") { // PgBouncer's
		return &Error{Text: "refuses a setting: " + err.Message, Advice: "take it out of --data and PGOPTIONS, or let the pooler ignore it", Err: err}
	}
	switch err.Code {
	case "28P01":
		e.Text, e.Advice = "refuses the password, or there is none", "put it into the file that PGPASSFILE names, or correct it there"
	case "28000":
		e.Text, e.Advice = "does not let the role in: "+err.Message, "add a line for it to pg_hba.conf, or create the role"
	case "3D000":
		e.Text, e.Advice = "does not exist", "create it with: createdb --owner=ROLE --encoding=UTF8 --locale=C --template=template0 DATABASE"
	case "42501":
		e.Text, e.Advice = "gives the role too few rights: "+err.Message, "let the role own the database, or grant it what is missing"
	case "42704", "22023", "55P02":
		e.Text, e.Advice = "refuses a setting: "+err.Message, "take it out of --data and PGOPTIONS"
	case "53100":
		e.Text, e.Advice = "has a full disk: "+err.Message, "make room there"
	case "53300":
		e.Text, e.Advice = "has no connection left: "+err.Message, "raise max_connections, or let others use fewer"
	case "55P03":
		e.Text, e.Advice = "is busy: somebody keeps it locked", "try again when the other teamdata, or the migration, has ended"
	case "57P03":
		e.Text, e.Advice = "accepts no connections yet: "+err.Message, "try again"
	default:
		e.Text, e.Advice = fmt.Sprintf("refuses: %s (SQLSTATE %s)", err.Message, err.Code), "see PostgreSQL's log"
	}
	return e
}
