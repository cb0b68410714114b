package bench

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"time"
)

// handlerJob asks for a handler whose answers have so many bytes, head and
// body.
type handlerJob struct{ Bytes int }

// bareHandler does nothing but answer, on a server with the settings and the
// TLS that the appliance has.
type bareHandler struct {
	server  *http.Server
	address string
	ca      []byte
}

// bareHead is about how many bytes net/http puts before the body.
const bareHead = 110

func startHandler(j *handlerJob) (*bareHandler, error) {
	config, ca, err := ownTLS()
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := &http.Server{
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second,
		WriteTimeout: 60 * time.Second, IdleTimeout: 120 * time.Second, MaxHeaderBytes: 64 << 10,
		Handler: answering(bytes.Repeat([]byte(" "), max(0, j.Bytes-bareHead))), ErrorLog: log.New(io.Discard, "", 0),
	}
	go server.Serve(tls.NewListener(l, config))
	return &bareHandler{server, l.Addr().String(), ca}, nil
}

func answering(body []byte) http.Handler {
	length := strconv.Itoa(len(body))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", length)
		w.Write(body)
	})
}

// serveBare runs a bare handler in a process of its own.
func (s *session) serveBare(ctx context.Context, answerBytes int) (*partProcess, target, error) {
	p, err := s.startPart(ctx)
	if err != nil {
		return nil, target{}, err
	}
	t, err := p.do(job{Handler: &handlerJob{answerBytes}})
	if err != nil {
		p.kill()
		return nil, target{}, err
	}
	return p, target{t.Address, rootsOf(t.CAPEM)}, nil
}
