package server

import (
	"cmp"
	"net/http"
	"strings"
)

// adminPath is where the paths of the admin API begin.
const adminPath = "/admin/"

// front hands what is for the admin API to its handler, behind the checks that
// come before any key is looked at. Health checks pass no check at all. All else
// goes to the routes of this API.
func (s *Server) front(w http.ResponseWriter, r *http.Request) {
	if isHealth(r) {
		s.answerHealth(w, r)
		return
	}
	if s.admin == nil || !strings.HasPrefix(r.URL.Path, adminPath) {
		s.router.ServeHTTP(w, r)
		return
	}
	x := &exchange{s: s, w: w, r: r, now: s.now()}
	x.begin(adminRoute)
	defer x.end()
	defer x.recoverPanic()
	for _, check := range []func(*exchange) error{(*exchange).checkRunning, (*exchange).checkClientLimit} {
		if err := check(x); err != nil {
			x.fail(err)
			return
		}
	}
	s.admin.ServeHTTP(noting{w, &x.seen}, r)
	x.seen.status = cmp.Or(x.seen.status, http.StatusOK) // what net/http answers for a handler that doesn't
}
