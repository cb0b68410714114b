package server

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"

	"teamdata/internal/web"
	"teamdata/server/cork"
	"teamdata/store"
)

// answer sends an answer of the current version, as the pinned one has it.
func (x *exchange) answer(a store.Answer) { x.send(x.inVersion(a)) }

// bufferedBody is what net/http gathers by itself: an answer with a body up to
// this size leaves in one write without our help.
const bufferedBody = 2 << 10

// send sends an answer as it is. A large body on HTTP/1 leaves in one write to
// the network, where net/http and TLS would make several. That a client has
// gone shows in no error here: there is nobody to tell.
func (x *exchange) send(a store.Answer) {
	h := x.w.Header()
	x.setVersion(h)
	if h["Cache-Control"] == nil {
		h["Cache-Control"] = web.NoStore
	}
	h["Content-Length"] = []string{strconv.Itoa(len(a.Body))}
	h["Content-Type"] = []string{a.ContentType}
	h["X-Content-Type-Options"] = web.NoSniff
	x.sent = true
	x.note(a.Status, len(a.Body))
	x.w.WriteHeader(a.Status)
	if conn := x.conn(); conn != nil && len(a.Body) > bufferedBody {
		conn.Cork()
		defer conn.Uncork()
		defer http.NewResponseController(x.w).Flush()
	}
	x.w.Write(a.Body)
}

type connKey struct{}

func rememberConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, cork.FromRequestConn(c))
}

// conn is the connection that this answer has to itself; nil on HTTP/2, where
// answers share it.
func (x *exchange) conn() *cork.Conn {
	if x.r.ProtoMajor != 1 {
		return nil
	}
	conn, _ := x.r.Context().Value(connKey{}).(*cork.Conn)
	return conn
}

// fail answers an error. Only a store.Error reaches the client, and only its
// code and message; any other error is internal.
func (x *exchange) fail(err error) {
	e := web.PublicError(err)
	if e.Code.Status() >= http.StatusInternalServerError && !errors.Is(err, errStopping) {
		x.logFault(err)
	}
	h := x.w.Header()
	if web.SetErrorHeaders(h, e); x.s.stopping.Load() {
		h["Connection"] = web.Close
	}
	x.answer(web.ErrorAnswer(e))
}

// logFault notes a fault of the server. When the client has gone, what failed
// is the exchange, and nobody's fault.
func (x *exchange) logFault(err error) {
	if x.r.Context().Err() != nil {
		return
	}
	x.s.log.Error().Err(err).Str("method", x.r.Method).Str("path", x.r.URL.Path).Msg("request failed")
}

// recoverPanic answers a panic with 500.
func (x *exchange) recoverPanic() {
	if p := recover(); p != nil {
		web.Panicked(p, x.sent, x.s.log.Error().Str("path", x.r.URL.Path), "request panicked")
		x.answer(web.ErrorAnswer(web.ErrInternal))
	}
}
