package app

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/rs/zerolog"
)

// challenges answers an ACME authority over plain HTTP.
type challenges struct {
	http     http.Server
	listener net.Listener // nil: there is no need for it
}

func (c *challenges) open(address string, answer http.Handler) (err error) {
	if c.listener, err = net.Listen("tcp", address); err != nil {
		return fmt.Errorf("--acme-http: can't listen on %s: %w; choose another address, or let this user listen there", address, err)
	}
	c.http = http.Server{
		Handler:           answer,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      10 * time.Second,
		IdleTimeout:       30 * time.Second,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          log.New(io.Discard, "", 0),
	}
	return nil
}

// serve answers until close. Without it HTTPS goes on, so it ends nothing else.
func (c *challenges) serve(log zerolog.Logger) {
	if c.listener == nil {
		return
	}
	if err := c.http.Serve(c.listener); !errors.Is(err, http.ErrServerClosed) {
		log.Error().Err(err).Msg("--acme-http is not answered any more; restart the program")
	}
}

func (c *challenges) close() {
	c.http.Close()
	if c.listener != nil {
		c.listener.Close() // for a start that failed
	}
}
