package doctor

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// nameServer answers a real resolver with the addresses of some names.
func nameServer(t *testing.T, records ...string) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	answer := func(w dns.ResponseWriter, q *dns.Msg) {
		r := new(dns.Msg).SetReply(q)
		r.Rcode = dns.RcodeNameError
		for _, text := range records {
			if rr, err := dns.NewRR(text); err == nil && rr.Header().Name == q.Question[0].Name {
				if r.Rcode = dns.RcodeSuccess; rr.Header().Rrtype == q.Question[0].Qtype {
					r.Answer = append(r.Answer, rr)
				}
			}
		}
		_ = w.WriteMsg(r) // a question that is not answered is asked again
	}
	server := &dns.Server{PacketConn: conn, Handler: dns.HandlerFunc(answer)}
	go server.ActivateAndServe()
	t.Cleanup(func() { conn.Close() })
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func TestDomains(t *testing.T) {
	t.Parallel()
	d := doctor{resolver: nameServer(t, "public.acme.test. A 203.0.113.7", "inside.acme.test. A 10.1.2.3")}
	d.Domains = []string{"public.acme.test", "inside.acme.test", "missing.acme.test"}
	d.checkDomains(t.Context())
	finds(t, d.list, "", OK, "public.acme.test is at 203.0.113.7")
	finds(t, d.list, "", Warning, "inside.acme.test is at 10.1.2.3|inside.acme.test is at .* this machine")
	finds(t, d.list, "", Problem, "missing.acme.test does not resolve")
}
