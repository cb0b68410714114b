package server

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"
)

// The few words of HTTP/2 (RFC 9113, RFC 7541) that an attacker needs, written
// out, since no client library says what it may not say.
const (
	h2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

	h2Headers      = 1
	h2Reset        = 3
	h2Settings     = 4
	h2GoAway       = 7
	h2Continuation = 9

	h2EndStream  = 1
	h2EndHeaders = 4

	h2EnhanceYourCalm = 11
	h2MaxFrame        = 16 << 10
)

type h2Frame struct {
	kind, flags byte
	stream      uint32
	payload     []byte
}

func (f h2Frame) append(b []byte) []byte {
	b = append(b, byte(len(f.payload)>>16), byte(len(f.payload)>>8), byte(len(f.payload)), f.kind, f.flags)
	return append(binary.BigEndian.AppendUint32(b, f.stream), f.payload...)
}

// h2Request is the header block of a GET, with fields that are added to it.
func h2Request(path string, fields ...[2]string) []byte {
	b := []byte{0x82, 0x87} // :method GET, :scheme https
	b = h2String(append(b, 0x04), path)
	b = h2String(append(b, 0x01), "localhost")
	for _, field := range fields {
		b = h2String(h2String(append(b, 0x00), field[0]), field[1])
	}
	return b
}

// h2String appends a length, an integer of 7 bits and more, and a text.
func h2String(b []byte, text string) []byte {
	n := len(text)
	if n < 127 {
		return append(append(b, byte(n)), text...)
	}
	b = append(b, 127)
	for n -= 127; n >= 128; n >>= 7 {
		b = append(b, byte(n)|128)
	}
	return append(append(b, byte(n)), text...)
}

// h2Conn is a connection that speaks HTTP/2.
type h2Conn struct{ net.Conn }

func (env *testEnv) dialH2() h2Conn {
	env.Helper()
	c, err := tls.Dial("tcp", env.addr, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	if err != nil {
		env.Fatal(err)
	}
	env.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(30 * time.Second))
	io.WriteString(c, h2Preface)
	c.Write(h2Frame{kind: h2Settings}.append(nil))
	return h2Conn{c}
}

// ask sends a request's header block, in as many frames as it needs.
func (c h2Conn) ask(stream uint32, block []byte) {
	f := h2Frame{kind: h2Headers, flags: h2EndStream, stream: stream}
	var b []byte
	for len(block) > h2MaxFrame {
		f.payload, block = block[:h2MaxFrame], block[h2MaxFrame:]
		b = f.append(b)
		f = h2Frame{kind: h2Continuation, stream: stream}
	}
	f.payload, f.flags = block, f.flags|h2EndHeaders
	c.Write(f.append(b))
}

// until reads up to a frame of a kind; its error is why there is none.
func (c h2Conn) until(kind byte) (f h2Frame, err error) {
	var head [9]byte
	for f.kind != kind && err == nil {
		if _, err = io.ReadFull(c, head[:]); err != nil {
			break
		}
		f = h2Frame{kind: head[3], flags: head[4], stream: binary.BigEndian.Uint32(head[5:])}
		f.payload = make([]byte, int(head[0])<<16|int(head[1])<<8|int(head[2]))
		_, err = io.ReadFull(c, f.payload)
	}
	return f, err
}

// Headers of more than 64 KiB are answered 431.
func TestHeadersTooLarge(t *testing.T) {
	env := newTestEnv(t, Config{})
	c := env.dial(env.listen(), nil)
	go io.WriteString(c, "GET /api/v1/members HTTP/1.1\r\nHost: a\r\nX-Large: "+strings.Repeat("x", 100<<10)+"\r\n\r\n")
	if text, err := io.ReadAll(c); !bytes.HasPrefix(text, []byte("HTTP/1.1 431 ")) {
		t.Errorf("%q, %v", text, err)
	}
}

// On HTTP/2 as well. Who goes on sending far beyond that is cut off.
func TestHTTP2HeadersTooLarge(t *testing.T) {
	env := newTestEnv(t, Config{})
	env.listenWith(true)
	fields := slices.Repeat([][2]string{{"x-large", strings.Repeat("x", 1000)}}, 64)
	c := env.dialH2()
	c.ask(1, h2Request("/api/v1/members", fields...))
	if f, err := c.until(h2Headers); err != nil || !bytes.Contains(f.payload, []byte("\x03431")) {
		t.Errorf("%q, %v", f.payload, err)
	}
	c = env.dialH2()
	c.ask(1, h2Request("/api/v1/members", append(fields, fields...)...))
	if f, err := c.until(h2GoAway); err != nil {
		t.Errorf("%q, %v", f.payload, err)
	}
}
