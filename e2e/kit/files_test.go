package kit

import (
	"net"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
)

// A reserved address refuses connections, is given to nobody else, and can be listened
// on, also while programs are being started, which hold for a moment what is open here.
func TestReserved(t *testing.T) {
	var over atomic.Bool
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for !over.Load() {
			exec.Command(os.Args[0], "-test.run", "^$").Run()
		}
	}()
	defer func() {
		over.Store(true)
		<-ended
	}()
	for range 200 {
		address := Reserved(t)
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			t.Fatalf("%s answers", address)
		}
		if other := Loopback(t).Addr().String(); other == address {
			t.Fatalf("%s is given to another", address)
		}
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
	}
}
