package server

import (
	"context"
	"crypto/rand"
	"math"
	"net/http"
	"time"

	"teamdata/internal/web"
)

// Observer is who looks after a server. Its zero value sees nothing.
type Observer struct {
	// Failing tells what keeps the server from being ready, a line for each
	// check. It is called for each GET /readyz, so it is cheap.
	Failing func(context.Context) []string
	// Answered is told of each request: the pattern of its route, and the status
	// of its answer, 0 for one that was broken off. It must not block.
	Answered func(route string, status int, took time.Duration)
	// Limited is told of each request that a limit refused: "client" or "key".
	Limited func(limit string)
	// AccessLog says which requests are logged. Of those, one in AccessLogSample
	// is, where that is more than 1, and each whose fault is the server's.
	AccessLog       AccessLog
	AccessLogSample int
}

// AccessLog says which requests are logged, at info level, a line each.
type AccessLog string

// Errors are answers from 400 on, but for those of a limit: whoever floods the
// server is not to fill the log.
const (
	LogOff    AccessLog = "off"
	LogErrors AccessLog = "errors"
	LogAll    AccessLog = "all"
)

// Observe sets who looks after the server. It is set once, before Serve.
func (s *Server) Observe(o Observer) { s.observer = o }

// Routes are the patterns of all routes that Answered is told of.
func (s *Server) Routes() []string {
	patterns := []string{noRoute}
	for i := range s.mounts {
		patterns = append(patterns, s.mounts[i].pattern())
	}
	for i := range routes {
		patterns = append(patterns, basePath+routes[i].path)
	}
	return patterns
}

const noRoute = "none" // what a client asks for is no name for a metric

// patternOf holds the patterns, so that no request has to make its own.
var patternOf = func() map[*route]string {
	patterns := map[*route]string{nil: noRoute}
	for i := range routes {
		patterns[&routes[i]] = basePath + routes[i].path
	}
	return patterns
}()

// seen is what is noted of an exchange for those who look on.
type seen struct {
	id      string // of the request
	began   time.Time
	pattern string
	status  int    // 0: no answer has begun
	bytes   int    // of the answer's body
	limit   string // of Limits, which refused it; empty: none
}

// requestIDHeader is taken from a request if it is well formed, and answered.
const requestIDHeader = "X-Request-Id"

func (x *exchange) begin(pattern string) {
	x.seen = seen{id: requestID(x.r.Header[requestIDHeader]), began: time.Now(), pattern: pattern}
	x.w.Header()[requestIDHeader] = []string{x.seen.id}
}

// requestID is the client's, or a new one.
func requestID(given []string) string {
	if len(given) == 1 && isRequestID(given[0]) {
		return given[0]
	}
	return rand.Text()
}

const maxRequestID = 64

func isRequestID(id string) bool {
	if id == "" || len(id) > maxRequestID {
		return false
	}
	for i := range len(id) {
		c := id[i]
		if c|0x20 < 'a' || c|0x20 > 'z' {
			if c != '-' && c != '_' && (c < '0' || c > '9') {
				return false
			}
		}
	}
	return true
}

// end tells those who look on. It comes last, after a panic as well.
func (x *exchange) end() {
	o, took := &x.s.observer, time.Since(x.seen.began)
	if o.Answered != nil {
		o.Answered(x.seen.pattern, x.seen.status, took)
	}
	if o.Limited != nil && x.seen.limit != "" {
		o.Limited(x.seen.limit)
	}
	if x.logged() {
		x.logAccess(took)
	}
}

// Limits are what Limited is told of.
var Limits = []string{"client", "key"}

func (x *exchange) logged() bool {
	o, status := &x.s.observer, x.seen.status
	switch {
	case o.AccessLog == LogOff, o.AccessLog == "":
		return false
	case status == 0, status >= http.StatusInternalServerError:
		return true
	case o.AccessLog == LogErrors && (status < http.StatusBadRequest || x.seen.limit != ""):
		return false
	}
	return o.AccessLogSample <= 1 || x.s.sampled.Add(1)%uint64(o.AccessLogSample) == 0
}

// logAccess writes the line of a request: neither what it asked with, nor what it
// was answered, and the pattern in place of the path.
func (x *exchange) logAccess(took time.Duration) {
	line := x.s.log.Info().Str("requestId", x.seen.id)
	if client := x.clientAddr(); client.IsValid() {
		line.Str("client", client.String())
	}
	if x.access != nil {
		line.Str("org", x.access.Key.OrgID).Str("key", x.access.Key.ID)
	}
	line.Str("method", x.method()).Str("route", x.seen.pattern).Int("status", x.seen.status).Int("bytes", x.seen.bytes).
		Float64("ms", math.Round(float64(took)/float64(time.Microsecond))/1000).Msg("request")
}

// method is the request's, if it is one that the server knows: any other is the
// client's to choose.
func (x *exchange) method() string {
	switch x.r.Method {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS":
		return x.r.Method
	}
	return "other"
}

// note is told of an answer as it begins.
func (x *exchange) note(status, bytes int) {
	if x.seen.status = status; x.r.Method != http.MethodHead {
		x.seen.bytes = bytes
	}
}

// noting notes what another handler answers. http.MaxBytesReader doesn't see
// through it, so that it closes the connection of a request that is too large.
type noting struct {
	http.ResponseWriter
	seen *seen
}

func (n noting) WriteHeader(status int) {
	if n.seen.status < http.StatusOK { // none, or one that another follows
		n.seen.status = status
	}
	if status == http.StatusRequestEntityTooLarge {
		n.Header()["Connection"] = web.Close
	}
	n.ResponseWriter.WriteHeader(status)
}

func (n noting) Write(b []byte) (int, error) {
	if n.seen.status < http.StatusOK {
		n.seen.status = http.StatusOK
	}
	written, err := n.ResponseWriter.Write(b)
	n.seen.bytes += written
	return written, err
}

// Unwrap is for http.ResponseController.
func (n noting) Unwrap() http.ResponseWriter { return n.ResponseWriter }
