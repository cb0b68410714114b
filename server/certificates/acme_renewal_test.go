package certificates

import (
	"crypto/x509"
	"fmt"
	"math/big"
	"testing"
	"time"
)

// Certificates are renewed all over the window, so that not all come at once.
func TestMoment(t *testing.T) {
	now := time.Now()
	w := window{Start: now.Add(20 * day), End: now.Add(24 * day)}
	quarters := map[time.Duration]int{}
	const n = 400
	for i := range n {
		c := &x509.Certificate{Raw: fmt.Append(nil, i), NotBefore: now, NotAfter: now.Add(90 * day)}
		at := w.moment(c)
		if at.Before(w.Start) || !at.Before(w.End) {
			t.Fatalf("%v is not in the window", at)
		}
		quarters[at.Sub(w.Start)/day]++
	}
	for i := range time.Duration(4) {
		if quarters[i] < n/8 {
			t.Errorf("%d of %d are in quarter %d", quarters[i], n, i+1)
		}
	}
}

// The name of a certificate is RFC 9773's for its example.
func TestRenewalID(t *testing.T) {
	key := []byte{0x69, 0x88, 0x5b, 0x6b, 0x87, 0x46, 0x40, 0x41, 0xe1, 0xb3, 0x7b, 0x84, 0x7b, 0xa0, 0xae, 0x2c, 0xde, 0x01, 0xc8, 0xd4}
	for serial, want := range map[int64]string{0x87654321: "AIdlQyE", 0x7654321: "B2VDIQ"} {
		id, err := renewalID(&x509.Certificate{AuthorityKeyId: key, SerialNumber: big.NewInt(serial)})
		if err != nil || id != "aYhba4dGQEHhs3uEe6CuLN4ByNQ."+want {
			t.Errorf("%x: %s, %v", serial, id, err)
		}
	}
	if id, err := renewalID(&x509.Certificate{SerialNumber: big.NewInt(1)}); err == nil {
		t.Errorf("without its issuer's key it is %s", id)
	}
}
