package server

import (
	"net/http"
	"net/netip"

	"teamdata/internal/web"
	"teamdata/store"
)

// serveStream answers a request on HTTP/2, and counts it until its answer was
// read, up to the limit of connections; beyond that it is refused. On HTTP/1 a
// connection has one request at a time and is counted itself.
func (s *Server) serveStream(w http.ResponseWriter, r *http.Request) {
	peer, _ := netip.ParseAddrPort(r.RemoteAddr)
	release, ok := s.streams.acquire(peer.Addr())
	if !ok {
		s.refuseStream(w, r)
		return
	}
	defer release()
	if r.Header.Get("Expect") != "" { // net/http has taken out 100-continue
		s.failExpectation(w, r)
	} else {
		s.answer(w, r)
	}
	_ = http.NewResponseController(w).Flush() // waits for what is left of the answer
}

// failExpectation answers what net/http answers by itself on HTTP/1.
func (s *Server) failExpectation(w http.ResponseWriter, r *http.Request) {
	failed := s.begin(web.Request{W: w, HTTP: r, Pattern: web.NoRoute})
	defer failed.end()
	failed.send(bareAnswer(http.StatusExpectationFailed))
}

// refuseStream answers without a body, which could block on its client like the
// others, and ends the connection for new requests.
func (s *Server) refuseStream(w http.ResponseWriter, r *http.Request) {
	refused := s.begin(web.Request{W: w, HTTP: r, Pattern: web.NoRoute})
	defer refused.end()
	refused.record.limit = Limits[0]
	refused.setVersion()
	refused.SetHeader("Retry-After", "1")
	w.Header()["Connection"] = web.Close // GOAWAY
	refused.Send(store.Answer{Status: http.StatusTooManyRequests})
}
