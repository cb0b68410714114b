package server

import (
	"net/http"
	"slices"
	"strings"

	"teamdata/store"
	"teamdata/wire/web"
)

// The paths of the health checks, which need no key and don't count towards any limit.
const (
	LivePath  = "/livez"  // 200 while the process answers
	ReadyPath = "/readyz" // 200 while it can serve requests, else 503
)

// Health answers the health checks, in plain text: "ok", or a line for each check
// that fails, and then a line for each warning.
func (s *Server) Health() http.Handler { return http.HandlerFunc(s.answerHealth) }

func isHealth(r *http.Request) bool {
	return (r.URL.Path == LivePath || r.URL.Path == ReadyPath) && (r.Method == http.MethodGet || r.Method == http.MethodHead)
}

func (s *Server) answerHealth(w http.ResponseWriter, r *http.Request) {
	status, lines := http.StatusOK, []string{"ok"}
	if r.URL.Path == ReadyPath {
		if failing := s.failing(r); len(failing) > 0 {
			status, lines = http.StatusServiceUnavailable, failing
		}
		if s.observer.Warnings != nil {
			lines = slices.Concat(lines, s.observer.Warnings(r.Context()))
		}
	}
	answer := web.Request{W: w, HTTP: r}
	answer.Send(store.Answer{Status: status, ContentType: "text/plain; charset=utf-8", Body: []byte(strings.Join(lines, "\n") + "\n")})
}

// failing returns why the server is not ready, one line per reason.
func (s *Server) failing(r *http.Request) []string {
	switch {
	case s.stopping.Load():
		return []string{"stopping"}
	case s.observer.Failing == nil:
		return nil
	}
	return s.observer.Failing(r.Context())
}
