package delivery

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"teamdata/delivery/egress"
	"teamdata/e2e/kit"
	"teamdata/store"
)

// A proxy that is down for ten minutes uses up no attempt and holds up nobody whom it
// doesn't concern. It is asked again after 1 s to 30 s, and what waits drains by itself.
func TestProxyDownForTenMinutes(t *testing.T) {
	now := time.Now()
	certificate := trusted().issue(func(c *x509.Certificate) { c.IPAddresses = []net.IP{net.ParseIP(public), net.ParseIP("93.184.216.36")} })
	synctest.Test(t, func(t *testing.T) {
		var up, dials, connected atomic.Int32
		var serving sync.WaitGroup
		pipe := func(speak func(net.Conn)) net.Conn {
			near, far := net.Pipe()
			serving.Go(func() { speak(far); far.Close() })
			return near
		}
		receive := secured(&tls.Config{Certificates: []tls.Certificate{certificate}}, func(c net.Conn) {
			for r := bufio.NewReader(c); ; {
				q, err := http.ReadRequest(r)
				if err != nil {
					return
				}
				io.Copy(io.Discard, q.Body)
				io.WriteString(c, ok)
			}
		})
		proxy, err := egress.New(egress.Config{URL: "http://proxy.corp:3128", Dial: func(context.Context, string, string) (net.Conn, error) {
			dials.Add(1)
			if up.Load() == 0 {
				return nil, errors.New("nobody listens")
			}
			return pipe(func(c net.Conn) {
				if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
					connected.Add(1)
					io.WriteString(c, tunnelOpen)
					receive(c)
				}
			}), nil
		}})
		kit.Must(t, err)
		env := newEnv(t)
		d := New(env.store, Config{RootCAs: trusted().roots(), CertificateTime: func() time.Time { return now }, Proxy: proxy})
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { d.Run(ctx, ctx) })

		var endpoints []store.Endpoint
		for _, host := range []string{public, "93.184.216.36"} {
			endpoints = append(endpoints, env.endpoint("https://"+host+"/"))
		}
		near := env.endpoint("https://127.0.0.1:1/") // where nobody listens
		var sent []store.Delivery
		for range 20 {
			for _, e := range endpoints {
				sent = append(sent, env.sendTest(e.ID))
			}
		}
		<-time.After(time.Minute)
		beside := env.sendTest(near.ID)
		<-time.After(9 * time.Minute)
		for _, s := range sent {
			if got := env.delivery(s.ID); got.State != store.StatePending || got.Attempts != 0 || len(got.History) != 0 {
				t.Fatalf("while the proxy was down, a delivery is %s after %d attempts", got.State, got.Attempts)
			}
		}
		if env.isDisabled(endpoints[0].ID) || d.ProxyDown() == nil {
			t.Error("an endpoint is disabled, or nobody knows that the proxy is down")
		}
		if n := env.delivery(beside.ID).Attempts; n == 0 {
			t.Error("a receiver on this machine waited for the proxy")
		}
		if n := dials.Load(); n < 20 || n > 60 {
			t.Errorf("the proxy was asked %d times in ten minutes", n)
		}
		if n := d.GivenBack(); n > 2*uint64(len(sent)) {
			t.Errorf("%d times a delivery was given back", n)
		}
		up.Store(1)
		<-time.After(31 * time.Second)
		for _, s := range sent {
			if got := env.delivery(s.ID); got.State != store.StateAcknowledged || got.Attempts != 1 {
				t.Errorf("half a minute after the proxy was back, a delivery is %s after %d attempts", got.State, got.Attempts)
			}
		}
		if d.ProxyDown() != nil || connected.Load() == 0 {
			t.Error("the proxy is still down")
		}
		cancel()
		running.Wait()
		serving.Wait()
		env.store.Close()
	})
}
