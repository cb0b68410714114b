package contract

import (
	"bytes"
	"io"
	"net/http"
	"sync"
	"testing"
)

// Watch answers as h does, and fails the test for each fault of an exchange. An
// answer that h aborted is not checked.
func Watch(t testing.TB, h http.Handler, faults func(Exchange) []string) http.Handler {
	var mu sync.Mutex
	ended := false
	t.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		ended = true
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen := watched{ResponseWriter: w}
		asked := Exchange{Method: r.Method, URL: r.URL, RequestHeader: r.Header.Clone()}
		var body bytes.Buffer
		request := *r // net/http uses the request's own body later
		if r.Body != nil && r.Body != http.NoBody {
			request.Body = struct {
				io.Reader
				io.Closer
			}{io.TeeReader(r.Body, &body), r.Body}
		}
		h.ServeHTTP(&seen, &request)
		asked.RequestBody, asked.Status, asked.Header, asked.Body = body.Bytes(), seen.status, seen.header, seen.body.Bytes()
		complaints := faults(asked)
		mu.Lock()
		defer mu.Unlock()
		for _, complaint := range complaints {
			if !ended {
				t.Errorf("not as in openapi.yaml: %s\n%.2000s", complaint, asked.Body)
			}
		}
	})
}

// watched keeps what it passes on.
type watched struct {
	http.ResponseWriter
	status int // 0: nothing was answered
	header http.Header
	body   bytes.Buffer
}

func (w *watched) WriteHeader(status int) {
	if w.status == 0 {
		w.status, w.header = status, w.Header().Clone()
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *watched) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	w.body.Write(b)
	return w.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (w *watched) Unwrap() http.ResponseWriter { return w.ResponseWriter }
