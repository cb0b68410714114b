package receiver

import (
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"time"
)

// NewServer makes a web server for a receiver on this machine, with TLS unless config is
// nil. The handler takes up to busy for an answer.
func NewServer(handler http.Handler, config *tls.Config, busy time.Duration) *http.Server {
	const reading, writing = 10 * time.Second, 10 * time.Second
	return &http.Server{
		Handler: handler, TLSConfig: config, MaxHeaderBytes: 16 << 10,
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: reading,
		WriteTimeout: reading + busy + writing, IdleTimeout: time.Minute,
		ErrorLog: log.New(io.Discard, "", 0), // connections that break off are the senders' matter
	}
}

// Serve serves a receiver over HTTPS on a free port of 127.0.0.1, and returns its URL.
// stop ends all connections.
func Serve(handler http.Handler, config *tls.Config) (url string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	web, served := NewServer(handler, config.Clone(), 0), make(chan struct{})
	go func() {
		defer close(served)
		web.ServeTLS(l, "", "")
	}()
	return "https://" + l.Addr().String(), func() {
		web.Close()
		<-served
	}, nil
}
