package localca

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/x509"
	"strings"
	"testing"
	"time"
)

const day = 24 * time.Hour

var epoch = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func newCA(t *testing.T, now time.Time) *CA {
	t.Helper()
	ca, err := NewCA(now, "box")
	if err != nil {
		t.Fatal(err)
	}
	return ca
}

func issue(t *testing.T, ca *CA, now time.Time, hosts ...string) []byte {
	t.Helper()
	text, err := ca.Issue(now, hosts)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestAuthority(t *testing.T) {
	cert := newCA(t, epoch).cert
	if got, want := cert.Subject.CommonName, "teamdata local CA (box, 2026-11-21)"; got != want {
		t.Errorf("subject %q, want %q", got, want)
	}
	if !cert.IsCA || !cert.BasicConstraintsValid || cert.MaxPathLen != 0 || !cert.MaxPathLenZero {
		t.Error("wrong basic constraints")
	}
	if cert.KeyUsage != x509.KeyUsageCertSign {
		t.Errorf("key usage %b", cert.KeyUsage)
	}
	if !cert.NotBefore.Equal(epoch.Add(-time.Hour)) || !cert.NotAfter.Equal(epoch.AddDate(10, 0, 0)) {
		t.Errorf("valid from %v to %v", cert.NotBefore, cert.NotAfter)
	}
	if cert.PublicKey.(*ecdsa.PublicKey).Curve != elliptic.P256() {
		t.Error("not on P-256")
	}
	if other := newCA(t, epoch).cert; cert.SerialNumber.Cmp(other.SerialNumber) == 0 || cert.SerialNumber.BitLen() < 64 {
		t.Error("serial number is not random")
	}
}

func TestLongNameIsCut(t *testing.T) {
	ca, err := NewCA(epoch, strings.Repeat("a", 31)+"ü.example")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := ca.cert.Subject.CommonName, "teamdata local CA ("+strings.Repeat("a", 31)+", 2026-11-21)"; got != want {
		t.Errorf("subject %q, want %q", got, want)
	}
}

func TestParseCA(t *testing.T) {
	ca := newCA(t, epoch)
	again, err := ParseCA(ca.PEM())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again.PEM(), ca.PEM()) || !again.NotAfter().Equal(ca.NotAfter()) {
		t.Error("the authority changed on its way through PEM")
	}
	leaf, err := LoadLeaf(issue(t, again, epoch, "localhost"))
	if err != nil {
		t.Fatal(err)
	}
	if !ca.Good(leaf, epoch, []string{"localhost"}) {
		t.Error("the parsed authority's leaf is not the first one's")
	}
}

func TestCertificatePEMHoldsNoKey(t *testing.T) {
	ca := newCA(t, epoch)
	text := string(ca.CertificatePEM())
	if strings.Contains(text, "KEY") || !strings.HasPrefix(string(ca.PEM()), text) {
		t.Errorf("not the certificate alone:\n%s", text)
	}
}

func TestUnusablePEM(t *testing.T) {
	ca, other := newCA(t, epoch), newCA(t, epoch)
	key := bytes.TrimPrefix(other.PEM(), other.CertificatePEM())
	for name, text := range map[string][]byte{
		"nothing":              nil,
		"garbage":              []byte("garbage"),
		"certificate alone":    ca.CertificatePEM(),
		"key alone":            key,
		"another's key":        append(ca.CertificatePEM(), key...),
		"cut off":              ca.PEM()[:len(ca.PEM())-20],
		"PEM around something": []byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n" + string(key)),
	} {
		_, err := ParseCA(text)
		isOneLine(t, name, err)
		_, err = LoadLeaf(text)
		isOneLine(t, name, err)
	}
	_, err := ParseCA(issue(t, ca, epoch, "localhost"))
	isOneLine(t, "a leaf for an authority", err)
}

func isOneLine(t *testing.T, name string, err error) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: no error", name)
	} else if text := err.Error(); !strings.HasPrefix(text, "localca: ") || strings.Contains(text, "\n") {
		t.Errorf("%s: %q", name, text)
	}
}

func FuzzParseCA(f *testing.F) {
	ca, err := NewCA(epoch, "box")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(ca.PEM())
	f.Add([]byte("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		ca, err := ParseCA(text)
		if err != nil {
			return
		}
		if _, err := ParseCA(ca.PEM()); err != nil {
			t.Errorf("its own PEM: %v", err)
		}
	})
}
