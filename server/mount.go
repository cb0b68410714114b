package server

import (
	"cmp"
	"net/http"
	"net/netip"
	"strings"

	"teamdata/internal/web"
)

// Mount is another face on the same listener: what is at Path, such as /admin,
// and below it. Its handler looks itself at who asks, and sees the client's
// address as the request's RemoteAddr, whatever proxies stand in between.
type Mount struct {
	Path    string
	Handler http.Handler
}

func (m *Mount) has(path string) bool {
	rest, ok := strings.CutPrefix(path, m.Path)
	return ok && (rest == "" || rest[0] == '/')
}

// pattern is what metrics and logs call its requests.
func (m *Mount) pattern() string { return m.Path + "/*" }

// front hands what is for another face to its handler, behind the checks that
// come before any key is looked at. Health checks pass no check at all. All else
// goes to the routes of this API.
func (s *Server) front(w http.ResponseWriter, r *http.Request) {
	if isHealth(r) {
		s.answerHealth(w, r)
		return
	}
	for i := range s.mounts {
		if s.mounts[i].has(r.URL.Path) {
			s.serveMount(web.Request{W: w, HTTP: r}, &s.mounts[i])
			return
		}
	}
	if s.home != "" && isBrowserAtRoot(r) {
		w.Header().Set("Vary", "Accept")
		http.Redirect(w, r, s.home, http.StatusFound)
		return
	}
	s.router.ServeHTTP(w, r)
}

// isBrowserAtRoot tells whether a person typed no more than our name. Programs
// are answered as at any path that is none.
func isBrowserAtRoot(r *http.Request) bool {
	return r.URL.Path == "/" && r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html")
}

var mountChecks = [...]func(*request) error{
	(*request).checkRunning,     // 503
	(*request).checkClientLimit, // 429
}

func (s *Server) serveMount(common web.Request, m *Mount) {
	r := &request{Request: common, s: s, now: s.now()}
	r.begin(m.pattern())
	defer r.end()
	defer r.recoverPanic()
	if err := r.pass(mountChecks[:]); err != nil {
		r.fail(err)
		return
	}
	m.Handler.ServeHTTP(noting{r.W, &r.seen}, r.fromClient())
	r.seen.status = cmp.Or(r.seen.status, http.StatusOK) // what net/http answers for a handler that doesn't
}

// fromClient is the request as if the client had sent it without a proxy.
func (r *request) fromClient() *http.Request {
	client := r.clientAddr()
	if !client.IsValid() {
		return r.HTTP
	}
	direct := *r.HTTP
	direct.RemoteAddr = netip.AddrPortFrom(client, 0).String()
	return &direct
}
