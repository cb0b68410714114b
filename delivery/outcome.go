package delivery

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode"

	"teamdata/delivery/egress"
	"teamdata/internal/netguard"
)

// Outcomes classify attempts for metrics: a 2xx, another status class, or why
// there was no status line.
var Outcomes = []string{"acknowledged", "1xx", "3xx", "4xx", "5xx", "other", "timeout", "guard", "dns", "tls", "connect", "broken"}

// answered returns the outcome of an attempt with a status line, and the reason
// if that is not 2xx.
func answered(status int) (outcome, reason string) {
	if outcome = outcomeOfStatus(status); outcome == "acknowledged" {
		return outcome, ""
	}
	reason = strings.TrimSpace(fmt.Sprintf("the receiver answered %d %s", status, http.StatusText(status)))
	if outcome == "3xx" {
		reason += "; redirects are not followed"
	}
	return outcome, reason
}

func outcomeOfStatus(status int) string {
	switch class := status / 100; {
	case class == 2:
		return "acknowledged"
	case class < 1 || class > 5:
		return "other"
	default:
		return fmt.Sprintf("%dxx", class)
	}
}

// late returns the reason of an attempt that timed out.
func late(timeout time.Duration, reached step) string {
	return fmt.Sprintf("no answer within %s: %s", timeout, unfinished[reached])
}

// failure returns the outcome of an attempt without a status line, and the reason
// in one line for the receiver's operators.
func failure(err error, reached step) (outcome, reason string) {
	var (
		refusal     *netguard.Refusal
		dns         *net.DNSError
		certificate *tls.CertificateVerificationError
		record      tls.RecordHeaderError
	)
	refused := alerted(err) // also once our end of the handshake is done, if it refuses our certificate
	if outcome = outcomeAt(reached); refused || errors.As(err, &record) {
		outcome = "tls"
	}
	switch {
	case errors.As(err, &refusal):
		return "guard", refusal.Error()
	case errors.Is(err, egress.ErrHost):
		return "guard", egress.ErrHost.Error()
	case errors.Is(err, errPlainHTTP):
		return "guard", errPlainHTTP.Error()
	case errors.As(err, &dns):
		return "dns", oneLine(fmt.Sprintf("DNS: %s: %s", dns.Name, dns.Err))
	case errors.As(err, &certificate):
		return "tls", oneLine("TLS: " + certificate.Err.Error())
	case string(record.RecordHeader[:]) == "HTTP/":
		return outcome, "TLS: the receiver speaks plain HTTP on this port"
	case errors.Is(err, syscall.ECONNREFUSED):
		return outcome, "connection refused"
	case wasClosed(err):
		return outcome, closed(reached)
	case refused || reached == stepTLS:
		return outcome, oneLine("TLS: " + tlsReason(err.Error()))
	}
	return outcome, oneLine(httpReason(err.Error()))
}

// outcomeAt returns the outcome of an attempt that failed at a step.
func outcomeAt(reached step) string {
	switch {
	case reached < stepTLS:
		return "connect"
	case reached == stepTLS:
		return "tls"
	}
	return "broken"
}

func tlsReason(text string) string {
	if strings.HasSuffix(text, "tls: no application protocol") {
		return "the receiver does not offer HTTP/1.1"
	}
	if _, reason, refused := strings.Cut(text, "remote error: tls: "); refused { // net/http may say before it where it was
		return "the receiver refused: " + reason
	}
	return strings.TrimPrefix(text, "tls: ")
}

// alerted reports whether the receiver ended TLS with an alert.
func alerted(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error"
}

// cutOff reports whether an attempt ended without an answer by its deadline, or with its
// connection: the proxy in between may be why.
func cutOff(err error) bool {
	var op *net.OpError
	return errors.Is(err, context.DeadlineExceeded) || wasClosed(err) || errors.As(err, &op) && (op.Op == "read" || op.Op == "write") ||
		err != nil && strings.HasPrefix(err.Error(), closedIdle)
}

// closedIdle is net/http's error of a new connection that ends before the answer.
const closedIdle = "http: server closed idle connection"

func wasClosed(err error) bool {
	closings := []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE}
	return slices.ContainsFunc(closings, func(target error) bool { return errors.Is(err, target) })
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

// httpReason rewords errors of net/http whose types are not exported.
func httpReason(text string) string {
	text, broken := strings.CutPrefix(text, "net/http: HTTP/1.x transport connection broken: ")
	switch {
	case strings.HasPrefix(text, "net/http: server response headers exceeded"):
		return tooLong
	case strings.HasPrefix(text, closedIdle):
		return closedEarly
	case broken:
		return "the answer is not valid HTTP: " + text
	}
	return text
}

// maxReason is in characters. Some errors quote what the receiver sent.
const maxReason = 300

// oneLine shortens text, and replaces characters that could start a new line.
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
