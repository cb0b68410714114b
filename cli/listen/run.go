package listen

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	stdlog "log"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"teamdata/app"
	"teamdata/delivery/receiver"
	"teamdata/internal/terminal"
)

// listening is a running listen.
type listening struct {
	settings   settings
	secrets    receiver.Secrets
	forward    *receiver.Forward // nil: none
	handler    *receiver.Receiver
	listener   net.Listener
	tls        *tls.Config // nil: plain HTTP
	caFile     string      // "": it has no CA
	pulling    *pulling    // nil: it receives
	out, notes io.Writer   // for events; for all else

	verified atomic.Int64  // the verified events
	counted  chan struct{} // is closed once Count of them were answered
}

// prepare makes what the settings alone decide: the receiver, and its certificate or where it
// pulls from.
func (s settings) prepare(secrets receiver.Secrets, texts []string, out, notes io.Writer) (l *listening, err error) {
	l = &listening{settings: s, secrets: secrets, out: out, notes: notes, counted: make(chan struct{})}
	if err = l.makeHandler(); err != nil {
		return l, err
	}
	if s.Pull != "" {
		l.pulling, err = s.pulling(texts, l.note)
	} else {
		l.tls, l.caFile, err = s.tlsConfig(time.Now())
	}
	return l, err
}

// open binds the listener and prints how to reach it.
func (l *listening) open() (err error) {
	if l.listener, err = app.Listen(l.settings.Listen); err != nil {
		return err
	}
	if err = (app.Ready{URL: l.url(), CAFile: l.caFile}).Write(l.settings.ReadyFile); err != nil {
		l.listener.Close()
		return err
	}
	l.introduce()
	return nil
}

// makeHandler makes the receiver.
func (l *listening) makeHandler() (err error) {
	c := receiver.Config{
		Secrets: l.secrets, Status: l.settings.Status, Delay: l.settings.Delay,
		Print: receiver.Text(l.out, receiver.InColour(l.out)), Answered: l.count,
	}
	if l.settings.JSON {
		c.Print = receiver.JSONLines(l.out)
	}
	if target := l.settings.Forward; target != "" {
		if l.forward, err = receiver.NewForward(target); err != nil {
			return fmt.Errorf("--forward: %w", err)
		}
		c.Forward = l.forward.Send
	}
	l.handler = receiver.New(c)
	return nil
}

func (l *listening) count(e receiver.Event) {
	if e.Verdict == receiver.Verified && l.verified.Add(1) == int64(l.settings.Count) {
		close(l.counted)
	}
}

// run receives until ctx is done or enough events have arrived. Running requests
// are answered first.
func (l *listening) run(ctx context.Context) error {
	web := receiver.NewServer(l.handler, l.tls, l.settings.Delay+receiver.ForwardTimeout)
	web.ErrorLog = stdlog.New(plainWriter{l.notes}, "", 0) // such as a sender that does not trust the CA
	web.RegisterOnShutdown(l.handler.Stop)
	served := make(chan error, 1)
	go func() { served <- serveWeb(web, l.listener) }()
	err := l.wait(ctx, served)

	grace, end := context.WithTimeout(context.Background(), app.StopGrace)
	defer end()
	if web.Shutdown(grace) != nil {
		web.Close() // what is left has no answer, and is sent again
	}
	return err
}

// wait returns why it is over.
func (l *listening) wait(ctx context.Context, served <-chan error) error {
	var late <-chan time.Time
	if l.settings.Timeout > 0 {
		late = time.After(l.settings.Timeout)
	}
	select {
	case <-l.counted:
		return nil
	case err := <-served: // it ends by itself only when something is wrong
		return err
	case <-late:
		return fmt.Errorf("%d of %d verified events came within %s", l.verified.Load(), l.settings.Count, l.settings.Timeout)
	case <-ctx.Done():
	}
	if l.settings.Count > 0 {
		return fmt.Errorf("stopped after %d of %d verified events", l.verified.Load(), l.settings.Count)
	}
	return nil
}

func serveWeb(web *http.Server, l net.Listener) error {
	if web.TLSConfig == nil {
		return web.Serve(l)
	}
	return web.ServeTLS(l, "", "")
}

// plainWriter makes log lines, which senders have a part in, safe for a terminal.
type plainWriter struct{ out io.Writer }

func (p plainWriter) Write(text []byte) (int, error) {
	fmt.Fprintln(p.out, terminal.Plain(strings.TrimSpace(string(text))))
	return len(text), nil
}
