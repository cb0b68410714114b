package server

import (
	"io"
	"net/http"
	"strings"

	"teamdata/internal/web"
)

// The paths of the health checks, which take no key and are in no limit.
const (
	LivePath  = "/livez"  // 200 while the process answers
	ReadyPath = "/readyz" // 200 while it can do its work, else 503
)

// Health answers the health checks, in plain text: "ok", or a line for each check
// that fails.
func (s *Server) Health() http.Handler { return http.HandlerFunc(s.answerHealth) }

func isHealth(r *http.Request) bool {
	return (r.URL.Path == LivePath || r.URL.Path == ReadyPath) && (r.Method == http.MethodGet || r.Method == http.MethodHead)
}

func (s *Server) answerHealth(w http.ResponseWriter, r *http.Request) {
	var failing []string
	if r.URL.Path == ReadyPath {
		failing = s.failing(r)
	}
	h := w.Header()
	h["Cache-Control"] = web.NoStore
	h["Content-Type"] = []string{"text/plain; charset=utf-8"}
	h["X-Content-Type-Options"] = web.NoSniff
	if len(failing) > 0 {
		w.WriteHeader(http.StatusServiceUnavailable)
		io.WriteString(w, strings.Join(failing, "\n")+"\n")
		return
	}
	io.WriteString(w, "ok\n")
}

// failing is what keeps the server from being ready, a line each.
func (s *Server) failing(r *http.Request) []string {
	switch {
	case s.stopping.Load():
		return []string{"stopping"}
	case s.observer.Failing == nil:
		return nil
	}
	return s.observer.Failing(r.Context())
}
