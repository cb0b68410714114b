package server

import (
	"context"
	"crypto/rand"
	"math"
	"net/http"
	"time"

	"teamdata/store"
	"teamdata/wire/web"
)

// Observer is notified of what a server does. Its zero value observes nothing.
type Observer struct {
	// Failing returns why the server is not ready, one line per failing check. It
	// is called for each GET /readyz and must be cheap.
	Failing func(context.Context) []string
	// Warnings returns what else GET /readyz says, one line each: the server is ready
	// all the same. It is called after Failing, whose checks it may use.
	Warnings func(context.Context) []string
	// Answered is called after each request, with the pattern of its route and the
	// status of its answer, 0 if there was none. It must not block.
	Answered func(route string, status int, took time.Duration)
	// Limited is called for each request refused by a limit, one of Limits.
	Limited func(limit string)
	// AccessLog is which requests are logged. If AccessLogSample is n > 1, only
	// one in n is, plus every answer of status 500 or above.
	AccessLog       AccessLog
	AccessLogSample int
}

// AccessLog is which requests are logged, at info level, one line each.
type AccessLog string

// LogErrors logs answers of status 400 or above, except those of a limit, so a
// flood doesn't fill the log.
const (
	LogOff    AccessLog = "off"
	LogErrors AccessLog = "errors"
	LogAll    AccessLog = "all"
)

// Observe sets the observer, once, before Serve.
func (s *Server) Observe(o Observer) { s.observer = o }

// Routes are the patterns of all routes that Answered is called with.
func (s *Server) Routes() []string {
	patterns := []string{web.NoRoute}
	for i := range s.config.Mounts {
		patterns = append(patterns, s.config.Mounts[i].pattern())
	}
	for i := range routes {
		patterns = append(patterns, basePath+routes[i].path)
	}
	for i := range pullRoutes {
		patterns = append(patterns, pullPath+pullRoutes[i].path)
	}
	return append(patterns, mcpRoute.path)
}

// accessRecord is what the observer and the access log need of a request, beyond
// web.Request.
type accessRecord struct {
	id    string // of the request
	began time.Time
	limit string // which of Limits refused it; empty: none
	tool  string // which tool an assistant called; empty: none

	waited time.Duration // for deliveries to pull, which the time that it took does not have
}

// begin starts a request, which end ends. Its id is the client's if that is well
// formed.
func (s *Server) begin(common web.Request) *request {
	r := &request{Request: common, s: s, now: s.config.Now()}
	r.Docs = docsPath
	r.record = accessRecord{id: requestID(r.HTTP.Header[web.RequestIDHeader]), began: time.Now()}
	r.SetHeader(web.RequestIDHeader, r.record.id)
	return r
}

// requestID returns the client's id if it is well formed, or a new one.
func requestID(given []string) string {
	if len(given) == 1 && store.ValidID(given[0]) {
		return given[0]
	}
	return rand.Text()
}

// end calls the observer and writes the access log. It runs last, even after a
// panic.
func (r *request) end() {
	o, took := &r.s.observer, time.Since(r.record.began)-r.record.waited
	if o.Answered != nil {
		o.Answered(r.Pattern, r.Status, took)
	}
	if o.Limited != nil && r.record.limit != "" {
		o.Limited(r.record.limit)
	}
	if r.logged() {
		r.logAccess(took)
	}
}

// Limits are the limits that Limited is called with.
var Limits = []string{"client", "key", "pull"}

func (r *request) logged() bool {
	o, status := &r.s.observer, r.Status
	switch {
	case o.AccessLog == LogOff, o.AccessLog == "":
		return false
	case status == 0, status >= http.StatusInternalServerError:
		return true
	case o.AccessLog == LogErrors && (status < http.StatusBadRequest || r.record.limit != ""):
		return false
	}
	return o.AccessLogSample <= 1 || r.s.sampled.Add(1)%uint64(o.AccessLogSample) == 0
}

// logAccess logs a request without its query, headers or body, and with its
// pattern instead of the path.
func (r *request) logAccess(took time.Duration) {
	line := r.s.config.Log.Info().Str("requestId", r.record.id)
	if client := r.clientAddr(); client.IsValid() {
		line.Str("client", client.String())
	}
	if r.access != nil {
		line.Str("org", r.access.Key.OrgID).Str("key", r.access.Key.ID)
	}
	if r.record.tool != "" {
		line.Str("tool", r.record.tool)
	}
	line.Str("method", r.method()).Str("route", r.Pattern).Int("status", r.Status).Int("bytes", r.Bytes).
		Float64("ms", math.Round(float64(took)/float64(time.Microsecond))/1000).Msg("request")
}

// method returns the request's method if the server knows it: clients can make up
// any other.
func (r *request) method() string {
	switch r.HTTP.Method {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS":
		return r.HTTP.Method
	}
	return "other"
}

// statusRecorder records what another handler answers. http.MaxBytesReader
// doesn't see through it, so it closes the connection of a request that is too
// large.
type statusRecorder struct {
	http.ResponseWriter
	request *web.Request
}

func (s statusRecorder) WriteHeader(status int) {
	if s.request.Status < http.StatusOK { // none, or an informational one
		s.request.Status = status
	}
	if status == http.StatusRequestEntityTooLarge {
		s.Header()["Connection"] = web.Close
	}
	s.ResponseWriter.WriteHeader(status)
}

func (s statusRecorder) Write(b []byte) (int, error) {
	if s.request.Status < http.StatusOK {
		s.request.Status = http.StatusOK
	}
	written, err := s.ResponseWriter.Write(b)
	s.request.Bytes += written
	return written, err
}

// Unwrap is for http.ResponseController.
func (s statusRecorder) Unwrap() http.ResponseWriter { return s.ResponseWriter }
