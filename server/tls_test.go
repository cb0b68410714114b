package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/internal/localca"
	"teamdata/server/certificates"
	"teamdata/store"
)

// LocalTLS is the configuration of a server with a local CA.
func LocalTLS(ctx context.Context, s store.Store, hosts []string, now time.Time) (config *tls.Config, caPEM []byte, err error) {
	local, err := certificates.NewLocal(ctx, s, certificates.LocalConfig{
		Hosts: hosts, Now: func() time.Time { return now },
		Trusted: func(pem []byte) error { caPEM = pem; return nil },
	})
	if err != nil {
		return nil, nil, err
	}
	return local.TLS(), caPEM, nil
}

// A client that trusts the authority alone can talk to the server by each name.
func TestLocalTLSIsTrusted(t *testing.T) {
	env := newTestEnv(t, Config{})
	config, caPEM, err := LocalTLS(t.Context(), env.Store, localca.LocalHosts("box.example"), time.Now())
	kit.Must(t, err)
	l := kit.Loopback(t)
	go env.server.Serve(l, config)
	defer env.server.http.Close()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(caPEM)
	for _, name := range []string{"localhost", "127.0.0.1", "::1", "box.example"} {
		c := tls.Client(env.dial(l.Addr().String(), nil), &tls.Config{RootCAs: roots, ServerName: name})
		if err := c.Handshake(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
