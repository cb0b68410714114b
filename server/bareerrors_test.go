package server

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
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
				if err != nil {
					t.Fatal(err)
				}
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
