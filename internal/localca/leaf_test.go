package localca

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/tls"
	"crypto/x509"
	"slices"
	"testing"
	"time"
)

var hosts = []string{"localhost", "127.0.0.1", "::1", "*.box.test", "fe80::1%eth0", "my_box"}

func load(t *testing.T, text []byte) tls.Certificate {
	t.Helper()
	leaf, err := LoadLeaf(text)
	if err != nil {
		t.Fatal(err)
	}
	return leaf
}

func TestLeaf(t *testing.T) {
	cert := load(t, issue(t, newCA(t, epoch), epoch, hosts...)).Leaf
	if want := []string{"localhost", "*.box.test", "my_box"}; !slices.Equal(cert.DNSNames, want) {
		t.Errorf("names %v, want %v", cert.DNSNames, want)
	}
	var ips []string
	for _, ip := range cert.IPAddresses {
		ips = append(ips, ip.String())
	}
	if want := []string{"127.0.0.1", "::1", "fe80::1"}; !slices.Equal(ips, want) {
		t.Errorf("addresses %v, want %v", ips, want)
	}
	if cert.IsCA || cert.KeyUsage != x509.KeyUsageDigitalSignature ||
		!slices.Equal(cert.ExtKeyUsage, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}) {
		t.Error("good for more than a server, or less")
	}
	if !cert.NotBefore.Equal(epoch.Add(-time.Hour)) || cert.NotAfter.Sub(cert.NotBefore) != 397*day {
		t.Errorf("valid from %v to %v", cert.NotBefore, cert.NotAfter)
	}
	if cert.PublicKey.(*ecdsa.PublicKey).Curve != elliptic.P256() {
		t.Error("not on P-256")
	}
}

func TestIssueRefuses(t *testing.T) {
	ca := newCA(t, epoch)
	for name, bad := range map[string][]string{
		"no host":    {},
		"empty host": {"localhost", ""},
		"space":      {"my box"},
		"port":       {"localhost:443"},
		"not ASCII":  {"bücher.example"},
		"star alone": {"*."},
	} {
		_, err := ca.Issue(epoch, bad)
		isOneLine(t, name, err)
	}
	_, err := ca.Issue(ca.NotAfter(), []string{"localhost"})
	isOneLine(t, "expired authority", err)
}

func TestGood(t *testing.T) {
	ca := newCA(t, epoch)
	leaf := load(t, issue(t, ca, epoch, hosts...))
	end := leaf.Leaf.NotAfter
	for _, c := range []struct {
		name  string
		ca    *CA
		leaf  tls.Certificate
		now   time.Time
		hosts []string
		want  bool
	}{
		{"fresh", ca, leaf, epoch, hosts, true},
		{"fewer hosts", ca, leaf, epoch, hosts[:1], true},
		{"under the wildcard", ca, leaf, epoch, []string{"a.box.test"}, true},
		{"a host more", ca, leaf, epoch, []string{"localhost", "elsewhere"}, false},
		{"an address more", ca, leaf, epoch, []string{"localhost", "10.0.0.1"}, false},
		{"no hosts", ca, leaf, epoch, nil, false},
		{"other authority", newCA(t, epoch), leaf, epoch, hosts, false},
		{"no leaf", ca, tls.Certificate{}, epoch, hosts, false},
		{"not yet valid", ca, leaf, epoch.Add(-time.Hour - 1), hosts, false},
		{"just over 30 days left", ca, leaf, end.Add(-30*day - 1), hosts, true},
		{"30 days left", ca, leaf, end.Add(-30 * day), hosts, false},
		{"expired", ca, leaf, end.Add(1), hosts, false},
	} {
		if got := c.ca.Good(c.leaf, c.now, c.hosts); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestLeafEndsWithItsAuthority(t *testing.T) {
	ca := newCA(t, epoch)
	late := ca.NotAfter().Add(-100 * day)
	leaf := load(t, issue(t, ca, late, "localhost"))
	if !leaf.Leaf.NotAfter.Equal(ca.NotAfter()) {
		t.Errorf("leaf ends %v, authority %v", leaf.Leaf.NotAfter, ca.NotAfter())
	}
	if !ca.Good(leaf, late, []string{"localhost"}) {
		t.Error("not good with 100 days left")
	}
}

func TestLocalHosts(t *testing.T) {
	always := []string{"localhost", "127.0.0.1", "::1"}
	for hostname, more := range map[string][]string{
		"":               nil,
		"localhost":      nil,
		"127.0.0.1":      nil,
		"box":            {"box"},
		"Box.Example":    {"Box.Example", "box.example"},
		"LOCALHOST":      {"LOCALHOST"},
		"my_box":         {"my_box"},
		"my box":         nil,
		"-box":           nil,
		"box-":           nil,
		"box..example":   nil,
		"box.":           nil,
		"bücher.example": nil,
	} {
		want := append(slices.Clone(always), more...)
		if got := LocalHosts(hostname); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", hostname, got, want)
		}
	}
}
