package delivery

import (
	"context"
	"net/http/httptrace"
	"sync/atomic"

	"teamdata/delivery/egress"
)

// step is how far an attempt got.
type step int32

const (
	stepBegun step = iota
	stepLookUp
	stepConnect
	stepTLS
	stepRequest
	stepWait
	stepAnswer
)

// unfinished is, for each step, what had not happened yet.
var unfinished = [...]string{
	stepBegun:   "the connection was not begun",
	stepLookUp:  "the host's name was still being looked up",
	stepConnect: "the connection was still being made",
	stepTLS:     "the TLS handshake was not done",
	stepRequest: "the receiver did not read the request to its end",
	stepWait:    "the request was sent, and nothing came back",
	stepAnswer:  "the answer had begun, but its headers did not end",
}

// progress is the step that an attempt has reached. net/http reports it from
// several goroutines, and keeps reporting on a connection started for the attempt
// after the attempt got another; so it only advances.
type progress struct {
	at      atomic.Int32
	sent    atomic.Bool            // the receiver may have got something, perhaps over a connection that turned out to be dead
	through atomic.Pointer[string] // the receiver's host:port for the proxy; nil: the connection, or the one being made, is not through it
}

func (p *progress) step() step { return step(p.at.Load()) }

func (p *progress) reach(s step) {
	for at := p.at.Load(); at < int32(s) && !p.at.CompareAndSwap(at, int32(s)); {
		at = p.at.Load()
	}
}

// watch returns a context whose requests report their progress to p.
func (p *progress) watch(ctx context.Context) context.Context {
	ctx = egress.WithUse(ctx, func(target string) { p.through.Store(&target) })
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		// Called again if a reused connection turns out to be dead.
		GetConn: func(string) {
			p.at.Store(int32(stepBegun))
			p.through.Store(nil)
		},
		DNSStart:          func(httptrace.DNSStartInfo) { p.reach(stepLookUp) },
		ConnectStart:      func(_, _ string) { p.reach(stepConnect) },
		TLSHandshakeStart: func() { p.reach(stepTLS) },
		GotConn: func(got httptrace.GotConnInfo) {
			p.reach(stepRequest)
			p.sent.Store(true)
			p.through.Store(egress.Target(got.Conn))
		},
		WroteRequest: func(w httptrace.WroteRequestInfo) {
			if w.Err == nil { // and not cut off by the deadline
				p.reach(stepWait)
			}
		},
		GotFirstResponseByte: func() { p.reach(stepAnswer) },
	})
}
