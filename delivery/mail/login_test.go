package mail

import (
	"crypto/fips140"
	"errors"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/emersion/go-sasl"

	"teamdata/e2e/kit"
)

// After a mechanism that is refused the next one is tried, each once. A fault that may
// pass by itself, or no answer, ends it.
func TestNextMechanism(t *testing.T) {
	t.Parallel()
	if fips140.Enforced() {
		t.Skip("two of the mechanisms are not approved")
	}
	for name, test := range map[string]struct {
		refusal, plain string // the answers to AUTH, and to AUTH PLAIN
		want           string // the mechanisms, in order
		says           string // why it is not sent
	}{
		"refused":   {"535 5.7.8 not by this", "235 fine", "SCRAM-SHA-256 CRAM-MD5 PLAIN", ""},
		"unknown":   {"504 5.5.4 not here", "235 fine", "SCRAM-SHA-256 CRAM-MD5 PLAIN", ""},
		"each":      {"535 5.7.8 not by this", "535 5.7.8 not by that", "SCRAM-SHA-256 CRAM-MD5 PLAIN LOGIN", `SMTP AUTH failed: 535 "5.7.8 not by this"`},
		"passing":   {"454 4.7.0 later", "235 fine", "SCRAM-SHA-256", `SMTP AUTH failed: 454 "4.7.0 later"`},
		"no answer": {drop, "235 fine", "SCRAM-SHA-256", "the connection was closed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := (&script{secured: true, answers: map[string]string{
				"EHLO": "250-box\r\n250 AUTH LOGIN PLAIN XOAUTH2 CRAM-MD5 SCRAM-SHA-256", "AUTH": test.refusal, "AUTH PLAIN": test.plain,
			}}).open(t)
			err := newSender(t, "smtps://"+userinfo+server.addr.String()).Send(t.Context(), message())
			if test.says != "" {
				checkFailure(t, err, test.says, false)
			} else if err != nil {
				t.Error(err)
			}
			var tried []string
			for _, line := range server.lines() {
				if words := strings.Fields(line); words[0] == "AUTH" {
					tried = append(tried, words[1])
				}
			}
			if got := strings.Join(tried, " "); got != test.want {
				t.Errorf("it tried %s, not %s", got, test.want)
			}
		})
	}
}

// EHLO says a full name, or else the address.
func TestClientName(t *testing.T) {
	t.Parallel()
	four, six := &net.TCPAddr{IP: net.ParseIP("192.0.2.1"), Port: 9}, &net.TCPAddr{IP: net.ParseIP("fe80::1"), Zone: "eth0"}
	for _, test := range []struct {
		hostname string
		local    net.Addr
		want     string
	}{
		{"mail.example.com", four, "mail.example.com"},
		{"mail", four, "[192.0.2.1]"}, {"mail.", four, "[192.0.2.1]"}, {"", four, "[192.0.2.1]"}, {"é.example", four, "[192.0.2.1]"}, {"a b.example", four, "[192.0.2.1]"},
		{"mail", six, "[IPv6:fe80::1]"},
	} {
		if got := clientName(test.hostname, test.local); got != test.want {
			t.Errorf("%q at %s: %s, not %s", test.hostname, test.local, got, test.want)
		}
	}
	server := (&script{}).open(t)
	kit.Must(t, newSender(t, "smtp://"+server.addr.String()).Send(t.Context(), message()))
	hostname, _ := os.Hostname()
	if got := server.lines()[0]; got != "EHLO "+clientName(hostname, server.addr) {
		t.Errorf("it says %s", got)
	}
}

// Where FIPS 140-3 is enforced, a stronger mechanism is passed over if it takes MD5,
// and a server that offers nothing else gets no password.
func TestEnforcedFIPS(t *testing.T) {
	if !kit.EnforcesFIPS(t) {
		return
	}
	for _, test := range []struct {
		offers []string
		want   string // empty: none
	}{
		{[]string{"CRAM-MD5", sasl.Login, sasl.Plain}, sasl.Plain},
		{[]string{"CRAM-MD5", sasl.Login}, sasl.Login},
		{[]string{"CRAM-MD5", "SCRAM-SHA-1", "NTLM"}, ""},
	} {
		box := (&mailbox{mechanisms: test.offers}).open(t)
		err := newSender(t, "smtp://"+userinfo+box.addr.String()).Send(t.Context(), message())
		if test.want == "" {
			if !errors.Is(err, errNoneApproved) || Permanent(err) || !strings.Contains(err.Error(), "FIPS 140-3") {
				t.Errorf("%q: %v", test.offers, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", test.offers, err)
		} else if got := (<-box.received).mechanism; got != test.want {
			t.Errorf("%q: it chose %s", test.offers, got)
		}
	}
}
