package server

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"teamdata/e2e/kit"
)

// What net/http answers by itself is an answer of ours too, also on a connection that
// has had a request before.
func TestBareErrors(t *testing.T) {
	for _, config := range []*tls.Config{nil, {InsecureSkipVerify: true}} {
		env := newTestEnv(t, Config{})
		env.listenWith(config != nil)
		for request, want := range map[string]int{
			"GET /api/v1/members HTTP/1.1\r\nHost: a\r\nExpect: foo\r\n\r\n":                                   417,
			"GET /api/v1/members HTTP/1.1\r\nHost: a\r\nX-Large: " + strings.Repeat("x", 100<<10) + "\r\n\r\n": 431,
			"GET /api/v1/members HTTP/1.1\r\nHost: a\r\nX-Cut\r\n\r\n":                                         400,
		} {
			c := env.dial(env.addr, config)
			answers := bufio.NewReader(c)
			io.WriteString(c, "GET /api/v1/orgs HTTP/1.1\r\nHost: a\r\n\r\n")
			for _, want := range []int{404, want} {
				r, err := http.ReadResponse(answers, nil)
				kit.Must(t, err)
				var body struct {
					Error struct{ Code, Message string }
				}
				err = json.NewDecoder(r.Body).Decode(&body)
				if r.StatusCode != want || r.Header.Get("API-Version") == "" || err != nil || body.Error.Code == "" {
					t.Errorf("TLS %t, %.60q: %d %v %v %v", config != nil, request, r.StatusCode, r.Header, body, err)
				}
				if want == 404 {
					go io.WriteString(c, request)
				}
			}
		}
	}
}

// HTTP/2 has the same answer to an expectation, which net/http doesn't look at there.
func TestExpectHTTP2(t *testing.T) {
	env := newTestEnv(t, Config{})
	env.server.http.Handler = env.server // 417 belongs to no operation of the document
	env.listenWith(true)
	client := &http.Client{Transport: &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	for expect, want := range map[string]struct {
		status int
		code   string
	}{
		"foo":          {417, `"badRequest"`},
		"100-continue": {401, `"unauthorized"`},
		"":             {401, `"unauthorized"`},
	} {
		r := newRequest("GET", "https://"+env.addr+"/api/v1/members", "", "Expect", expect)
		answer, err := client.Do(r)
		kit.Must(t, err)
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.ProtoMajor != 2 || answer.StatusCode != want.status || answer.Header.Get("API-Version") == "" ||
			answer.Header.Get("X-Request-Id") == "" || !strings.Contains(string(body), want.code) || err != nil {
			t.Errorf("Expect: %s: %s %d, API-Version %q, %s %v", expect, answer.Proto, answer.StatusCode, answer.Header.Get("API-Version"), body, err)
		}
	}
}
