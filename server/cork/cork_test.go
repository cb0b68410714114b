package cork

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"teamdata/e2e/kit"
)

// recorder is a connection that remembers each Write. It fails them all once
// fail is set.
type recorder struct {
	net.Conn
	writes [][]byte
	fail   error
	closed bool
}

func (r *recorder) Write(p []byte) (int, error) {
	if r.fail != nil {
		return 0, r.fail
	}
	r.writes = append(r.writes, bytes.Clone(p))
	return len(p), nil
}

func (r *recorder) SetWriteDeadline(time.Time) error { return nil }

func (r *recorder) Close() error {
	r.closed = true
	return nil
}

func (r *recorder) sizes() (sizes []int) {
	for _, w := range r.writes {
		sizes = append(sizes, len(w))
	}
	return sizes
}

func TestCorkedWritesLeaveAsOne(t *testing.T) {
	r := new(recorder)
	c := &Conn{Conn: r}
	c.Cork()
	c.Cork()
	for _, s := range []string{"one ", "two ", "three"} {
		if n, err := c.Write([]byte(s)); n != len(s) || err != nil {
			t.Fatalf("Write: %d, %v", n, err)
		}
	}
	if len(r.writes) != 0 {
		t.Fatalf("%d writes while corked", len(r.writes))
	}
	for range 2 {
		kit.Must(t, c.Uncork())
	}
	c.Write([]byte("four"))
	if len(r.writes) != 2 || string(r.writes[0]) != "one two three" || string(r.writes[1]) != "four" {
		t.Errorf("%q", r.writes)
	}
}

func TestNothingGatheredNothingSent(t *testing.T) {
	r := new(recorder)
	c := &Conn{Conn: r}
	c.Cork()
	if err := c.Uncork(); err != nil || len(r.writes) != 0 {
		t.Errorf("%v, %d writes", err, len(r.writes))
	}
}

// TestRandomOrder drives a Conn at random: all bytes must arrive in order, and
// no more than the bound may ever be missing.
func TestRandomOrder(t *testing.T) {
	for seed := range uint64(50) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		r := new(recorder)
		c := &Conn{Conn: r}
		var pending []byte
		corked := false
		for range 200 {
			switch rnd.IntN(5) {
			case 0:
				c.Cork()
				corked = true
			case 1:
				c.Uncork()
				corked = false
			default:
				p := make([]byte, rnd.IntN(1<<rnd.IntN(18)))
				fill(p, rnd)
				c.Write(p)
				pending = append(pending, p...)
			}
			got := bytes.Join(r.writes, nil)
			r.writes = nil
			if !bytes.HasPrefix(pending, got) {
				t.Fatalf("seed %d: wrong bytes arrived", seed)
			}
			pending = pending[len(got):]
			if len(pending) > heldMax || !corked && len(pending) > 0 {
				t.Fatalf("seed %d: %d bytes held back, corked %v", seed, len(pending), corked)
			}
		}
	}
}

// fill marks p so that bytes of another Write, or moved ones, are noticed.
func fill(p []byte, rnd *rand.Rand) {
	first := rnd.Uint32()
	for i := range p {
		p[i] = byte(first + uint32(i))
	}
}

func TestBound(t *testing.T) {
	r := new(recorder)
	c := &Conn{Conn: r}
	c.Cork()
	for _, size := range []int{heldMax, 1, heldMax - 1, 2, heldMax + 1, 3} {
		c.Write(make([]byte, size))
	}
	c.Uncork()
	want := []int{heldMax, heldMax, 2, heldMax + 1, 3}
	if got := r.sizes(); !slices.Equal(got, want) {
		t.Errorf("writes of %v, want %v", got, want)
	}
}

func TestErrorsAreNotLost(t *testing.T) {
	broken := errors.New("broken")
	for name, send := range map[string]func(*Conn) error{
		"Uncork": (*Conn).Uncork,
		"too much": func(c *Conn) error {
			_, err := c.Write(make([]byte, heldMax))
			return err
		},
	} {
		r := new(recorder)
		c := &Conn{Conn: r}
		c.Cork()
		c.Write([]byte("lost"))
		r.fail = broken
		if err := send(c); err != broken {
			t.Errorf("%s: %v", name, err)
		}
		r.fail = nil
		if n, err := c.Write([]byte("later")); n != 0 || err != broken {
			t.Errorf("%s: next Write: %d, %v", name, n, err)
		}
		if err := c.Uncork(); err != broken {
			t.Errorf("%s: next Uncork: %v", name, err)
		}
		if len(r.writes) != 0 {
			t.Errorf("%s: wrote %q after a gap", name, r.writes)
		}
	}
}

func TestErrorOfStraightWritePasses(t *testing.T) {
	r := &recorder{fail: os.ErrDeadlineExceeded}
	c := &Conn{Conn: r}
	if _, err := c.Write([]byte("x")); err != os.ErrDeadlineExceeded {
		t.Error(err)
	}
	r.fail = nil
	if _, err := c.Write([]byte("x")); err != nil {
		t.Errorf("after the deadline was moved: %v", err)
	}
}

func TestCloseSendsWhatWasGathered(t *testing.T) {
	r := new(recorder)
	c := &Conn{Conn: r}
	c.Cork()
	c.Write([]byte("last words"))
	c.Close()
	if !r.closed || len(r.writes) != 1 || string(r.writes[0]) != "last words" {
		t.Errorf("closed %v, %q", r.closed, r.writes)
	}
}

func TestCloseWaitsASecondForAPeerThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		defer theirs.Close()
		c := &Conn{Conn: ours}
		c.Cork()
		c.Write([]byte("nobody reads this"))
		c.SetWriteDeadline(time.Now()) // as crypto/tls leaves it
		start := time.Now()
		c.Close()
		if took := time.Since(start); took != closeTimeout {
			t.Errorf("took %v", took)
		}
	})
}

func TestCloseEndsAStuckWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		defer theirs.Close()
		c := &Conn{Conn: ours}
		done := make(chan error)
		go func() {
			_, err := c.Write([]byte("nobody reads this"))
			done <- err
		}()
		synctest.Wait()
		c.Close()
		if err := <-done; err != io.ErrClosedPipe {
			t.Error(err)
		}
	})
}

func TestWriteAfterClose(t *testing.T) {
	ours, theirs := net.Pipe()
	defer theirs.Close()
	c := &Conn{Conn: ours}
	c.Cork()
	c.Close()
	if _, err := c.Write([]byte("x")); err != io.ErrClosedPipe {
		t.Errorf("Write: %v", err)
	}
	c.Cork()
	c.Write([]byte("x"))
	if err := c.Uncork(); err != io.ErrClosedPipe {
		t.Errorf("Uncork: %v", err)
	}
}

func TestCloseWrite(t *testing.T) {
	l := Listener(kit.Loopback(t))
	client, err := net.Dial("tcp", l.Addr().String())
	kit.Must(t, err)
	defer client.Close()
	server, err := l.Accept()
	kit.Must(t, err)
	defer server.Close()
	c, _ := Beneath[*Conn](server)
	c.Cork()
	c.Write([]byte("all"))
	kit.Must(t, c.CloseWrite())
	if got, err := io.ReadAll(client); string(got) != "all" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if err := (&Conn{Conn: new(recorder)}).CloseWrite(); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("no half to close: %v", err)
	}
}

// TestAllAtOnce is for the race detector; of the data it checks the order of
// the one writer.
func TestAllAtOnce(t *testing.T) {
	ours, theirs := net.Pipe()
	c := &Conn{Conn: ours}
	var corkers, writer sync.WaitGroup
	for range 4 {
		corkers.Go(func() {
			for range 500 {
				c.Cork()
				c.Uncork()
			}
		})
	}
	writer.Go(func() {
		for i := range 5000 {
			c.Write([]byte{byte(i)})
		}
		corkers.Wait()
		c.Uncork()
		c.Close()
	})
	got, err := io.ReadAll(theirs)
	writer.Wait()
	if err != nil || len(got) != 5000 {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	for i, b := range got {
		if b != byte(i) {
			t.Fatalf("byte %d is %d", i, b)
		}
	}
}
