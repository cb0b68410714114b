package delivery

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"

	"teamdata/delivery/netguard"
)

// reason says why an attempt got no answer, in words for the people who look
// after the receiver.
func reason(err error, timeout time.Duration) string {
	var (
		refusal     *netguard.Refusal
		dns         *net.DNSError
		certificate *tls.CertificateVerificationError
		record      tls.RecordHeaderError
		alert       tls.AlertError
	)
	switch {
	case errors.As(err, &refusal):
		return refusal.Error()
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("no answer within %s", timeout)
	case errors.As(err, &dns):
		return fmt.Sprintf("DNS: %s: %s", dns.Name, dns.Err)
	case errors.As(err, &certificate):
		return "TLS: " + certificate.Err.Error()
	case errors.As(err, &record) && string(record.RecordHeader[:]) == "HTTP/":
		return "TLS: the receiver speaks plain HTTP on this port"
	case errors.As(err, &record), errors.As(err, &alert):
		return "TLS: " + err.Error()
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was closed before an answer came"
	}
	return err.Error()
}
