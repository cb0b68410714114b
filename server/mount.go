package server

import (
	"cmp"
	"net/http"
	"net/netip"
	"strings"

	"teamdata/wire/web"
)

// Mount is another API or page on the same listener, at Path, such as /admin, and
// below it. Its handler authenticates requests itself, and sees the client's
// address as RemoteAddr even behind proxies.
type Mount struct {
	Path    string
	Handler http.Handler
}

func (m *Mount) has(path string) bool {
	rest, ok := strings.CutPrefix(path, m.Path)
	return ok && (rest == "" || rest[0] == '/')
}

// pattern is the pattern of its requests in metrics and logs.
func (m *Mount) pattern() string { return m.Path + "/*" }

var mountChecks = []func(*request) error{
	(*request).checkRunning,     // 503
	(*request).checkClientLimit, // 429
}

func (s *Server) serveMount(common web.Request, m *Mount) {
	r := s.begin(common)
	defer r.end()
	web.Serve(r, mountChecks, m.handle)
}

func (m *Mount) handle(r *request) error {
	m.Handler.ServeHTTP(statusRecorder{r.W, &r.Request}, r.fromClient())
	r.Status = cmp.Or(r.Status, http.StatusOK) // what net/http answers if the handler doesn't
	return nil
}

// fromClient returns the request as if the client had sent it without a proxy.
func (r *request) fromClient() *http.Request {
	client := r.clientAddr()
	if !client.IsValid() {
		return r.HTTP
	}
	direct := *r.HTTP
	direct.RemoteAddr = netip.AddrPortFrom(client, 0).String()
	return &direct
}
