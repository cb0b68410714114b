package delivery

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"
	"unicode"

	"teamdata/internal/netguard"
)

// maxReason is in characters. Some errors quote what the receiver sent.
const maxReason = 300

// reason says why an attempt got no answer, in one line of words for the people
// who look after the receiver.
func reason(err error, reached step) string {
	var (
		refusal     *netguard.Refusal
		dns         *net.DNSError
		certificate *tls.CertificateVerificationError
		record      tls.RecordHeaderError
	)
	switch {
	case errors.As(err, &refusal):
		return refusal.Error()
	case errors.As(err, &dns):
		return oneLine(fmt.Sprintf("DNS: %s: %s", dns.Name, dns.Err))
	case errors.As(err, &certificate):
		return oneLine("TLS: " + certificate.Err.Error())
	case errors.As(err, &record) && string(record.RecordHeader[:]) == "HTTP/":
		return "TLS: the receiver speaks plain HTTP on this port"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case wasClosed(err):
		return closed(reached)
	case reached == stepTLS:
		return oneLine("TLS: " + tlsReason(err.Error()))
	}
	return oneLine(httpReason(err.Error()))
}

func tlsReason(text string) string {
	if strings.HasSuffix(text, "tls: no application protocol") {
		return "the receiver does not offer HTTP/1.1"
	}
	return strings.TrimPrefix(text, "tls: ")
}

func wasClosed(err error) bool {
	for _, target := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE} {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

func closed(reached step) string {
	switch reached {
	case stepTLS:
		return "the connection was closed during the TLS handshake"
	case stepAnswer:
		return "the connection was closed in the middle of the answer"
	}
	return closedEarly
}

const closedEarly = "the connection was closed before an answer came"

var tooLong = fmt.Sprintf("the answer's headers are longer than %d bytes", maxAnswerHeaders)

// httpReason says in our words what net/http says with errors of types that it
// keeps to itself.
func httpReason(text string) string {
	text, broken := strings.CutPrefix(text, "net/http: HTTP/1.x transport connection broken: ")
	switch {
	case strings.HasPrefix(text, "net/http: server response headers exceeded"):
		return tooLong
	case strings.HasPrefix(text, "http: server closed idle connection"):
		return closedEarly
	case broken:
		return "the answer is not valid HTTP: " + text
	}
	return text
}

// late is the reason of an attempt that the deadline ended.
func late(timeout time.Duration, reached step) string {
	return fmt.Sprintf("no answer within %s: %s", timeout, undone[reached])
}

// answered is the reason of an attempt that got a status line other than 2xx.
func answered(status int) string {
	text := strings.TrimSpace(fmt.Sprintf("the receiver answered %d %s", status, http.StatusText(status)))
	if status >= 300 && status <= 399 {
		text += "; redirects are not followed"
	}
	return text
}

// oneLine makes text short, and free of what could pass for a line of its own.
func oneLine(text string) string {
	plain := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	if runes := []rune(plain); len(runes) > maxReason {
		plain = string(runes[:maxReason-1]) + "…"
	}
	return plain
}
