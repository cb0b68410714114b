package delivery

import (
	"bytes"
	"compress/gzip"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"teamdata/store"
)

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

// What goes wrong once the connection is secure: answers that are none.
func TestNastyAnswers(t *testing.T) {
	t.Parallel()
	checkNasty(t, overTLS([]nasty{
		{name: "closes before reading", speak: func(net.Conn) {}, says: "the connection was closed before an answer came"},
		{name: "resets before reading", speak: resets, says: "the connection was closed before an answer came"},
		{name: "silence", speak: listenOn, timedOut: true, says: "no answer within 1s: the request was sent, and nothing came back"},
		{name: "closes after the request", speak: afterRequest(func(net.Conn) {}), says: "the connection was closed before an answer came"},
		{name: "resets after the request", speak: afterRequest(resets), says: "the connection was closed before an answer came"},
		{name: "trickles the status line", speak: trickle("", "HTTP/1.1 200 "+strings.Repeat("O", 1000)), timedOut: true, says: "no answer within 1s: the answer had begun, but its headers did not end"},
		{name: "trickles headers", speak: trickle("HTTP/1.1 200 OK\r\n", "X: "+strings.Repeat("x", 1000)), timedOut: true, says: "no answer within 1s: the answer had begun, but its headers did not end"},
		{name: "closes in the status line", speak: afterRequest(saysAndCloses("HTTP/1.1 20")), says: `the answer is not valid HTTP: malformed HTTP status code "20"`},
		{name: "closes after the status line", speak: afterRequest(saysAndCloses("HTTP/1.1 200 OK\r\n")), says: "the connection was closed in the middle of the answer"},
		{name: "closes in the headers", speak: afterRequest(saysAndCloses("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n")), says: "the connection was closed in the middle of the answer"},
		{name: "endless status line", speak: afterRequest(floods("HTTP/1.1 200 ", strings.Repeat("O", 4096))), says: "the answer's headers are longer than 16384 bytes"},
		{name: "letters as status", speak: afterRequest(says("HTTP/1.1 2OO OK\r\n\r\n")), says: `the answer is not valid HTTP: malformed HTTP status code "2OO"`},
		{name: "two digits", speak: afterRequest(says("HTTP/1.1 20 OK\r\n\r\n")), says: `the answer is not valid HTTP: malformed HTTP status code "20"`},
		{name: "no HTTP", speak: afterRequest(says("SSH-2.0-OpenSSH_9.9\r\n")), says: `the answer is not valid HTTP: malformed HTTP`},
		{name: "HTTP/2 unasked", speak: afterRequest(says("\x00\x00\x00\x04\x00\x00\x00\x00\x00")), timedOut: true, says: "no answer within 1s: "},
		{name: "much that is no HTTP", speak: afterRequest(says(strings.Repeat("\x01", 4000) + "\r\n")), says: `the answer is not valid HTTP: malformed HTTP`},
		{name: "bad header", speak: afterRequest(says("HTTP/1.1 200 OK\r\nno colon\r\n\r\n")), says: "the answer is not valid HTTP: malformed MIME header"},
		{name: "1xx flood", speak: afterRequest(floods("", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")), says: "the answer's headers are longer than 16384 bytes"},
		{name: "slow 1xx", speak: trickle("", strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 40)), timedOut: true, says: "no answer within 1s: the answer had begun, but its headers did not end"},
	}))
}

// Answers that come, whatever is wrong with what follows the status line.
func TestNastyStatuses(t *testing.T) {
	t.Parallel()
	binary := "\x00\xff\x1b[31m\r\n" + strings.Repeat("\xc3\x28", 2000)
	bomb := zipped(8 << 20)
	checkNasty(t, overTLS([]nasty{
		{name: "hints, then 500", speak: afterRequest(says("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 500 No\r\nContent-Length: 4\r\n\r\nsad\n")), status: 500, says: "the receiver answered 500 Internal Server Error", answer: "sad\n"},
		{name: "600", speak: afterRequest(says("HTTP/1.1 600 What\r\nContent-Length: 0\r\n\r\n")), status: 600, says: "the receiver answered 600"},
		{name: "099", speak: afterRequest(says("HTTP/1.1 099 What\r\nContent-Length: 0\r\n\r\n")), status: 99, says: "the receiver answered 99"},
		{name: "switches protocols", speak: afterRequest(says("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")), status: 101, says: "the receiver answered 101 Switching Protocols"},
		{name: "redirect", speak: afterRequest(says("HTTP/1.1 302 Found\r\nLocation: https://10.0.0.1/\r\nContent-Length: 0\r\n\r\n")), status: 302, says: "the receiver answered 302 Found; redirects are not followed"},
		{name: "redirect to nowhere", speak: afterRequest(says("HTTP/1.1 302 Found\r\nLocation: ::\r\nContent-Length: 0\r\n\r\n")), status: 302, says: "the receiver answered 302 Found; redirects are not followed"},
		{name: "204 with a body", speak: afterRequest(says("HTTP/1.1 204 No Content\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello")), status: 204},
		{name: "HTTP/1.0 without a length", speak: afterRequest(saysAndCloses("HTTP/1.0 200 OK\r\n\r\nfine")), status: 200, answer: "fine"},
		{name: "less than was promised", speak: afterRequest(saysAndCloses("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")), status: 200, answer: "half"},
		{name: "broken chunks", speak: afterRequest(says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\nzz\r\n")), status: 200, answer: "ok"},
		{name: "500 with broken chunks", speak: afterRequest(says("HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\nzz\r\n")), status: 500, says: "the receiver answered 500", answer: "no"},
		{name: "trickles the body", speak: trickle("HTTP/1.1 200 OK\r\n\r\n", ""), timedOut: true, status: 200},
		{name: "500, then silence", speak: afterRequest(says("HTTP/1.1 500 No\r\nContent-Length: 9\r\n\r\nwait")), timedOut: true, status: 500, says: "the receiver answered 500", answer: "wait"},
		{name: "binary", speak: afterRequest(saysAndCloses("HTTP/1.1 200 OK\r\n\r\n" + binary)), status: 200, answer: binary[:store.MaxKeptAnswer]},
		{name: "exactly what is kept", speak: afterRequest(saysAndCloses("HTTP/1.1 200 OK\r\n\r\n" + binary[:store.MaxKeptAnswer])), status: 200, answer: binary[:store.MaxKeptAnswer]},
		{name: "gzip bomb", speak: afterRequest(saysAndCloses("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + bomb)), status: 200, answer: bomb[:store.MaxKeptAnswer]},
	}))
}

func overTLS(receivers []nasty) []nasty {
	for i := range receivers {
		receivers[i].speak = secured(goodTLS(), receivers[i].speak)
	}
	return receivers
}

// trickle answers with begin, and then with a byte of rest at a time until the
// other side closes. Without a rest, it only begins.
func trickle(begin, rest string) func(net.Conn) {
	return afterRequest(func(c net.Conn) {
		io.WriteString(c, begin)
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			listenOn(c)
		}()
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for i := range len(rest) {
			select {
			case <-tick.C:
				io.WriteString(c, rest[i:i+1])
			case <-gone:
				return
			}
		}
		<-gone
	})
}

// zipped is n zeros, compressed.
func zipped(n int64) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.CopyN(w, endless{}, n)
	w.Close()
	return b.String()
}
