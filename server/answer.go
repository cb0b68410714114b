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
func (r *request) answer(a store.Answer) { r.send(r.inVersion(a)) }

// bufferedBody is what net/http gathers by itself: an answer with a body up to
// this size leaves in one write without our help.
const bufferedBody = 2 << 10

// send sends an answer as it is. A large body on HTTP/1 leaves in one write to
// the network, where net/http and TLS would make several. That a client has
// gone shows in no error here: there is nobody to tell.
func (r *request) send(a store.Answer) {
	h := r.W.Header()
	r.setVersion(h)
	if h["Cache-Control"] == nil {
		h["Cache-Control"] = web.NoStore
	}
	h["Content-Length"] = []string{strconv.Itoa(len(a.Body))}
	h["Content-Type"] = []string{a.ContentType}
	h["X-Content-Type-Options"] = web.NoSniff
	r.Sent = true
	r.note(a.Status, len(a.Body))
	r.W.WriteHeader(a.Status)
	if conn := r.conn(); conn != nil && len(a.Body) > bufferedBody {
		conn.Cork()
		defer conn.Uncork()
		defer http.NewResponseController(r.W).Flush()
	}
	r.W.Write(a.Body)
}

type connKey struct{}

func rememberConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, cork.FromRequestConn(c))
}

// conn is the connection that this answer has to itself; nil on HTTP/2, where
// answers share it.
func (r *request) conn() *cork.Conn {
	if r.HTTP.ProtoMajor != 1 {
		return nil
	}
	conn, _ := r.HTTP.Context().Value(connKey{}).(*cork.Conn)
	return conn
}

// fail answers an error. Only a store.Error reaches the client, and only its
// code and message; any other error is internal.
func (r *request) fail(err error) {
	e := web.PublicError(err)
	if e.Code.Status() >= http.StatusInternalServerError && !errors.Is(err, errStopping) {
		r.logFault(err)
	}
	h := r.W.Header()
	if web.SetErrorHeaders(h, e); r.s.stopping.Load() {
		h["Connection"] = web.Close
	}
	r.answer(web.ErrorAnswer(e))
}

// logFault notes a fault of the server. When the client has gone, what failed
// is the request, and nobody's fault.
func (r *request) logFault(err error) {
	if r.HTTP.Context().Err() != nil {
		return
	}
	r.s.log.Error().Err(err).Str("method", r.HTTP.Method).Str("path", r.HTTP.URL.Path).Msg("request failed")
}

// recoverPanic answers a panic with 500.
func (r *request) recoverPanic() {
	if p := recover(); p != nil {
		web.Panicked(p, r.Sent, r.s.log.Error().Str("path", r.HTTP.URL.Path), "request panicked")
		r.answer(web.ErrorAnswer(web.ErrInternal))
	}
}
