package mail

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"teamdata/e2e/kit"
)

const (
	hang = "hang" // answers nothing any more, until the client goes
	drop = "drop" // closes the connection
)

// script is a server that misbehaves: it answers some commands by the script, and the
// others as a server without extensions does.
type script struct {
	answers map[string]string // by command, of AUTH also with its mechanism; "" is the greeting, "." the end of a mail
	secured bool              // TLS from the first byte
	deaf    bool              // begins no TLS, greets nobody

	addr    net.Addr
	reached chan struct{} // gets one each time it begins to hang
	heard   chan string   // gets each command
}

// lines are the commands that came.
func (s *script) lines() (all []string) {
	for len(s.heard) > 0 {
		all = append(all, <-s.heard)
	}
	return all
}

func (s *script) open(t *testing.T) *script {
	t.Helper()
	l := kit.Loopback(t)
	s.addr, s.reached, s.heard = l.Addr(), make(chan struct{}, 10), make(chan string, 100)
	if s.secured {
		config, _ := identity()
		l = tls.NewListener(l, config)
	}
	var running sync.WaitGroup
	running.Go(func() { s.accept(l, &running) })
	// Wait also shows that the client closes every connection.
	t.Cleanup(func() { l.Close(); running.Wait() })
	return s
}

func (s *script) accept(l net.Listener, running *sync.WaitGroup) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		running.Go(func() {
			defer conn.Close()
			s.talk(conn)
		})
	}
}

func (s *script) talk(conn net.Conn) {
	if s.deaf {
		s.hang(conn)
		return
	}
	if !s.answer(conn, "", "220 box") {
		return
	}
	usual := map[string]string{"EHLO": "250-box\r\n250 AUTH PLAIN", "DATA": "354 go on", "QUIT": "221 bye"}
	inData := false
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		line := lines.Text()
		command, _, _ := strings.Cut(line, " ")
		if inData && command != "." {
			continue
		}
		s.heard <- line
		first, _, _ := strings.Cut(line[min(len(line), len("AUTH ")):], " ")
		answer, ok := s.answers[command+" "+first]
		if !ok {
			answer, ok = s.answers[command]
		}
		if !ok {
			answer = usual[command]
		}
		if answer == "" {
			answer = "250 fine"
		}
		inData = command == "DATA" && strings.HasPrefix(answer, "354")
		if !s.answer(conn, command, strings.ReplaceAll(answer, "LINE", line)) {
			return
		}
	}
}

// answer reports whether the talk goes on.
func (s *script) answer(conn net.Conn, command, usual string) bool {
	answer := usual
	if command == "" && s.answers[""] != "" {
		answer = s.answers[""]
	}
	switch answer {
	case hang:
		s.hang(conn)
		return false
	case drop:
		return false
	}
	_, err := fmt.Fprintf(conn, "%s\r\n", answer)
	return err == nil
}

func (s *script) hang(conn net.Conn) {
	s.reached <- struct{}{}
	io.Copy(io.Discard, conn)
}
