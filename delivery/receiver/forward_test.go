package receiver

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
)

// forwarding serves a receiver that forwards, and records what it prints.
func forwarding(t *testing.T, target string) (*httptest.Server, *[]Event) {
	t.Helper()
	f, err := NewForward(target)
	kit.Must(t, err)
	var got []Event
	_, server := serve(t, Config{Secrets: parsed(t, secret), Forward: f.Send, Print: func(e Event) { got = append(got, e) }})
	return server, &got
}

// An application gets the request unchanged, and can verify it itself; its answer is
// passed back.
func TestForward(t *testing.T) {
	const body = "{\"type\" : \"member.added\",\n\t\"data\":{\"name\":\"Zo\u00eb \\u0000\"}}\n"
	type request struct {
		path, body string
		header     http.Header
	}
	var got []request
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		content, err := io.ReadAll(q.Body)
		if err == nil {
			err = parsed(t, secret)[0]().Verify(content, q.Header)
		}
		if err != nil {
			t.Error(err)
		}
		got = append(got, request{q.RequestURI, string(content), q.Header})
		http.Error(w, "brewing", http.StatusTeapot)
	}))
	defer app.Close()
	server, events := forwarding(t, app.URL+"/hook?a=1 2")
	q := signed(t, server.URL+"/ignored", "whd_1", time.Now(), body, secret)
	q.Header.Set("Content-Type", "application/json; charset=utf-8")
	q.Header.Set("Authorization", "Bearer not-for-the-application")
	if status, text := post(t, server, q); status != http.StatusTeapot || text != "" {
		t.Errorf("answered %d %q", status, text)
	}
	if len(got) != 1 || got[0].path != "/hook?a=1%202" || got[0].body != body {
		t.Fatalf("the application got %+v", got)
	}
	for _, name := range []string{"webhook-id", "webhook-timestamp", "webhook-signature", "Content-Type"} {
		if got[0].header.Get(name) != q.Header.Get(name) {
			t.Errorf("%s is %q, not %q", name, got[0].header.Get(name), q.Header.Get(name))
		}
	}
	if got[0].header.Get("Authorization") != "" {
		t.Error("it got another header too")
	}
	if last := (*events)[0]; last.Status != http.StatusTeapot || last.Verdict != Verified || last.Problem != "" {
		t.Errorf("printed %+v", last)
	}

	if status, _ := post(t, server, signed(t, server.URL, "whd_2", time.Now(), body, old)); status != 400 || len(got) != 1 {
		t.Errorf("what does not verify was answered %d; the application got %d", status, len(got))
	}
}

func TestForwardDoesNotFollow(t *testing.T) {
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path == "/elsewhere" {
			t.Error("it followed")
		}
		http.Redirect(w, q, "/elsewhere", http.StatusTemporaryRedirect)
	}))
	defer app.Close()
	server, _ := forwarding(t, app.URL)
	client := *server.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	answer, err := client.Do(signed(t, server.URL, "whd_1", time.Now(), event, secret))
	kit.Must(t, err)
	answer.Body.Close()
	if answer.StatusCode != http.StatusTemporaryRedirect {
		t.Errorf("answered %d", answer.StatusCode)
	}
}

// An application that can't take an event is a 502, with the reason.
func TestForwardFails(t *testing.T) {
	for name, test := range map[string]struct {
		answer string // what comes from the application, which then hangs up
		want   string
	}{
		"nothing":            {"", "can't be reached: EOF"},
		"not HTTP":           {"220 mail.example ESMTP\r\n", "can't be reached"},
		"switches protocols": {"HTTP/1.1 101 Switching Protocols\r\n\r\n", "answered 101"},
		"no such status":     {"HTTP/1.1 999 Ten\r\n\r\n", "answered 999"},
	} {
		t.Run(name, func(t *testing.T) {
			server, events := forwarding(t, "http://"+hangingUp(t, test.answer)+"/hook")
			if status, _ := post(t, server, signed(t, server.URL, "whd_1", time.Now(), event, secret)); status != 502 {
				t.Errorf("answered %d", status)
			}
			if last := (*events)[0]; last.Status != 502 || !strings.Contains(last.Problem, test.want) {
				t.Errorf("printed %+v", last)
			}
		})
	}
}

// hangingUp is the address of a server that answers every request with one text and
// hangs up.
func hangingUp(t *testing.T, answer string) string {
	t.Helper()
	l := kit.Loopback(t)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			var buf [4096]byte
			for read := ""; !strings.HasSuffix(read, event); {
				n, err := c.Read(buf[:])
				if err != nil {
					break
				}
				read += string(buf[:n])
			}
			io.WriteString(c, answer)
			c.Close()
		}
	}()
	return l.Addr().String()
}

func TestForwardToNobody(t *testing.T) {
	server, events := forwarding(t, "http://user:s3cret@"+kit.Reserved(t))
	if status, _ := post(t, server, signed(t, server.URL, "whd_1", time.Now(), event, secret)); status != 502 {
		t.Errorf("answered %d", status)
	}
	problem := (*events)[0].Problem
	if !strings.Contains(problem, "connection refused; is it running?") || strings.Contains(problem, "s3cret") {
		t.Errorf("the problem is %q", problem)
	}
}

// When the sender hangs up, the receiver stops waiting for the application.
func TestForwardEndsWithTheSender(t *testing.T) {
	hangUp, over := make(chan func(), 1), make(chan struct{})
	app := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		io.Copy(io.Discard, q.Body)
		(<-hangUp)()
		<-q.Context().Done()
		close(over)
	}))
	defer app.Close()
	server, events := forwarding(t, app.URL)
	q, cancel := withCancel(signed(t, server.URL, "whd_1", time.Now(), event, secret))
	hangUp <- cancel
	if answer, err := server.Client().Do(q); err == nil {
		answer.Body.Close()
		t.Errorf("answered %d", answer.StatusCode)
	}
	<-over
	server.Close() // waits for the handler
	if last := (*events)[0]; !strings.Contains(last.Problem, "when the sender hung up") {
		t.Errorf("printed %+v", last)
	}
}

func TestBadForward(t *testing.T) {
	for _, target := range []string{"", "3000", "localhost:3000", "ftp://localhost", "http://", "http://:3000", "/hook", "http://a b"} {
		if _, err := NewForward(target); err == nil || !strings.Contains(err.Error(), "such as http://") {
			t.Errorf("%q: %v", target, err)
		}
	}
}
