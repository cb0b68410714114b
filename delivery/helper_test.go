package delivery

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"teamdata/store"
)

// mustSkip skips a test that needs something which is not on this machine. In
// CI everything is there, so that a skip is a failure.
func mustSkip(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal("in CI this can't be skipped: " + why)
	}
	t.Skip(why)
}

// of is the bench for a subtest.
func (b *bench) of(t testing.TB) *bench {
	c := *b
	c.TB = t
	return &c
}

// sendToAll sends to each of the URLs, queued in one commit.
func (b *bench) sendToAll(urls []string) (deliveryIDs []string) {
	b.Helper()
	b.update(func(tx store.Tx) error {
		for _, url := range urls {
			e, err := store.ImportEndpoint(tx, store.Endpoint{OrgID: testOrg, URL: url, Events: []string{store.EventWebhookTest}})
			if err != nil {
				return err
			}
			d, err := store.SendTest(tx, testOrg, e.ID)
			if err != nil {
				return err
			}
			deliveryIDs = append(deliveryIDs, d.ID)
		}
		return nil
	})
	return deliveryIDs
}

// onlyAttempt sends to a URL, and returns the one attempt that is made.
func (b *bench) onlyAttempt(url string, want store.DeliveryState) store.Attempt {
	b.Helper()
	return b.onlyAttemptOf(b.sendTest(b.endpoint(url).ID).ID, want)
}

func (b *bench) onlyAttemptOf(deliveryID string, want store.DeliveryState) store.Attempt {
	b.Helper()
	d := b.awaitState(deliveryID, want)
	if d.Attempts != 1 || len(d.History) != 1 {
		b.Fatalf("%d attempts were counted and %d kept, not one", d.Attempts, len(d.History))
	}
	return d.History[0]
}

// authority issues the certificates of receivers.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

var trusted = sync.OnceValue(newAuthority)

func newAuthority() *authority {
	a := &authority{}
	a.certificate, a.key = a.sign(&x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Test CA"},
		NotBefore: time.Now().Add(-24 * time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	})
	return a
}

// sign makes a certificate; the first is of the authority itself.
func (a *authority) sign(c *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	parent, signer := a.certificate, a.key
	if parent == nil {
		parent, signer = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, key.Public(), signer)
	if err != nil {
		panic(err)
	}
	signed, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	return signed, key
}

// issue makes a receiver's certificate, for where receivers are in tests unless
// change says otherwise.
func (a *authority) issue(change func(*x509.Certificate)) tls.Certificate {
	c := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "Test receiver"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames:    []string{"localhost", "receiver.example"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv4(127, 9, 9, 9), net.IPv6loopback, net.IPv4zero, net.IPv6unspecified},
	}
	if change != nil {
		change(c)
	}
	signed, key := a.sign(c)
	return tls.Certificate{Certificate: [][]byte{signed.Raw}, PrivateKey: key}
}

func (a *authority) roots() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	return pool
}
