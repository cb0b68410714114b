package program

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"testing"

	"teamdata/e2e/kit"
)

// ServeTLS serves a handler over HTTPS on a free port of this machine, until the
// test ends. The CA to trust is in caFile.
func ServeTLS(t testing.TB, handler http.Handler) (url, caFile string) {
	t.Helper()
	return StartTLS(t, httptest.NewUnstartedServer(handler))
}

// StartTLS does the same with a server that has settings of its own.
func StartTLS(t testing.TB, s *httptest.Server) (url, caFile string) {
	t.Helper()
	s.StartTLS()
	t.Cleanup(s.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	return s.URL + "/hook", kit.NewFile(t, "receiver.ca.pem", string(ca))
}
