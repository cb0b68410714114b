package mail

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// places are the points at which a server can misbehave, which is written as X.
var places = map[string]script{
	"before TLS":    {deaf: true, secured: true},
	"no greeting":   {answers: map[string]string{"": "X"}},
	"greeting":      {answers: map[string]string{"EHLO": "X"}},
	"STARTTLS":      {answers: map[string]string{"EHLO": "250-box\r\n250 STARTTLS", "STARTTLS": "X"}},
	"MAIL":          {answers: map[string]string{"MAIL": "X"}},
	"RCPT":          {answers: map[string]string{"RCPT": "X"}},
	"DATA":          {answers: map[string]string{"DATA": "X"}},
	"after the end": {answers: map[string]string{".": "X"}},
}

// at returns a server that does what at a place, and a sender to it.
func at(t *testing.T, place script, what string) (*script, *Sender) {
	t.Helper()
	s := &script{answers: map[string]string{}, deaf: place.deaf}
	for command, answer := range place.answers {
		s.answers[command] = strings.Replace(answer, "X", what, 1)
	}
	s.open(t)
	if place.secured {
		return s, newSender(t, "smtps://"+s.addr.String())
	}
	return s, newSender(t, "smtp://"+s.addr.String())
}

// atEach runs a test of each place.
func atEach(t *testing.T, test func(t *testing.T, place script)) {
	t.Parallel()
	for name, place := range places {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, place)
		})
	}
}

func TestCancel(t *testing.T) {
	atEach(t, func(t *testing.T, place script) {
		server, s := at(t, place, hang)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-server.reached; cancel() }()
		err := s.Send(ctx, message())
		checkFailure(t, err, "context canceled", false)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v is not context.Canceled", err)
		}
	})
}

func TestTimeout(t *testing.T) {
	atEach(t, func(t *testing.T, place script) {
		_, s := at(t, place, hang)
		s.timeout = 100 * time.Millisecond
		err := s.Send(t.Context(), message())
		checkFailure(t, err, "not sent within 100ms", false)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v is not context.DeadlineExceeded", err)
		}
	})
}

func TestDropped(t *testing.T) {
	atEach(t, func(t *testing.T, place script) {
		if place.deaf { // it says nothing that could break off
			return
		}
		_, s := at(t, place, drop)
		checkFailure(t, s.Send(t.Context(), message()), "the connection ", false)
	})
}

// Once the server has accepted the mail, an error after that is none: a second try
// would only send it twice.
func TestTakenIsSent(t *testing.T) {
	t.Parallel()
	for _, what := range []string{drop, "421 closing", "500 what?"} {
		server := (&script{answers: map[string]string{"QUIT": what, "RSET": what}}).open(t)
		if err := newSender(t, "smtp://"+server.addr.String()).Send(t.Context(), message()); err != nil {
			t.Errorf("QUIT answered by %q: %v", what, err)
		}
	}
}

// A 5xx before the recipient is about the server or the settings, so not permanent.
func TestUnwilling(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"", "EHLO", "MAIL"} {
		server := (&script{answers: map[string]string{command: "554 not now", "HELO": "554 not now"}}).open(t)
		s := newSender(t, "smtp://"+server.addr.String())
		checkFailure(t, s.Send(t.Context(), message()), "not now", false)
	}
}

// A rejection is permanent even if the server hangs afterwards.
func TestRefusedThenSilent(t *testing.T) {
	t.Parallel()
	server := (&script{answers: map[string]string{"RCPT": "550 no such user", "RSET": hang}}).open(t)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-server.reached; cancel() }()
	err := newSender(t, "smtp://"+server.addr.String()).Send(ctx, message())
	checkFailure(t, err, "no such user", true)
}

// The password is hidden when a server repeats what it did not understand.
func TestEchoedPassword(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"smtps://u:wr0ng@", "smtps://" + userinfo} {
		server := (&script{secured: true, answers: map[string]string{"AUTH": `535 LINE is wrong, wr0ng or pa:ss/w?rd"#%5`}}).open(t)
		err := newSender(t, url+server.addr.String()).Send(t.Context(), message())
		if err == nil || !strings.Contains(err.Error(), "AUTH PLAIN [redacted] is wrong, ") || strings.Count(err.Error(), "[redacted]") != 2 {
			t.Errorf("%v", err)
		}
	}
}
