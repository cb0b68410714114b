package server

import (
	"net/http"
	"net/netip"
	"time"

	"teamdata/internal/ratelimit"
	"teamdata/store"
	"teamdata/wire/web"
)

// cutPause is how long a client whose connection was cut keeps the room of its requests, so
// that it can't have one handshake after the other.
const cutPause = time.Second

// serveStream answers a request on HTTP/2, and counts it until its answer was
// read, up to the limit of connections; beyond that it is refused. On HTTP/1 a
// connection has one request at a time and is counted itself.
func (s *Server) serveStream(w http.ResponseWriter, r *http.Request) {
	peer, _ := netip.ParseAddrPort(r.RemoteAddr)
	c := connectionOf(r)
	release, ok := s.streams.acquire(peer.Addr())
	if !ok {
		s.refuseStream(w, r, c, ratelimit.ClientKey(peer.Addr()))
		return
	}
	defer func() {
		if c != nil && c.cut.Load() {
			time.AfterFunc(cutPause, release)
		} else {
			release()
		}
	}()
	if r.Header.Get("Expect") != "" { // net/http has taken out 100-continue
		s.failExpectation(w, r)
	} else {
		s.answer(w, r)
	}
	err := http.NewResponseController(w).Flush() // waits for what is left of the answer
	if err == nil && c != nil && !c.cut.Load() {
		c.settled()
	}
}

// failExpectation answers what net/http answers by itself on HTTP/1.
func (s *Server) failExpectation(w http.ResponseWriter, r *http.Request) {
	failed := s.begin(web.Request{W: w, HTTP: r, Pattern: web.NoRoute})
	defer failed.end()
	failed.send(bareAnswer(http.StatusExpectationFailed))
}

// refuseStream cuts the connection of a client that nobody knows yet: an answer might not be
// read either, and cost as much. One with a key is answered without a body, which could block
// on its client like the others, and its connection ends for new requests.
func (s *Server) refuseStream(w http.ResponseWriter, r *http.Request, c *connection, client netip.Prefix) {
	if c != nil && !c.known.Load() {
		if !c.cut.Swap(true) {
			s.connections.newcomers.watch(client)
			drop(c.below)
		}
		return
	}
	refused := s.begin(web.Request{W: w, HTTP: r, Pattern: web.NoRoute})
	defer refused.end()
	refused.record.limit = Limits[0]
	refused.setVersion()
	refused.SetHeader("Retry-After", "1")
	w.Header()["Connection"] = web.Close // GOAWAY
	refused.Send(store.Answer{Status: http.StatusTooManyRequests})
}
