package serve_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

const pulledOrg = `{"orgs":[{"id":"org_acme","name":"Acme",
  "subscription":{"id":"sub_acme","product":"teamdata","plan":"business","interval":"month","status":"active"},
  "members":[{"userId":"usr_ada","role":"owner"}],
  "apiKeys":[{"id":"key_pull","secret":"example-consumer-secret","scopes":["receive"],"createdBy":"usr_ada"}],
  "webhooks":[{"id":"whe_pull","kind":"pull","events":["*"]}]}]}`

// A thousand requests that wait for deliveries cost at most 24 MiB more than their idle
// connections. They are answered when the server stops.
func TestWaitingRequestsCostLittle(t *testing.T) {
	kit.OnlyAtSize(t)
	const n, most = 1000, 24
	seed := filepath.Join(t.TempDir(), "seed.json")
	kit.Must(t, os.WriteFile(seed, []byte(pulledOrg), 0o600))
	p := program.Serve(t, filepath.Join(t.TempDir(), "teamdata.db"), "--seed", seed, "--pull-rate", "0", "--max-conns-per-client", "0")
	at, err := url.Parse(p.URL)
	kit.Must(t, err)
	conns, answers := make([]*tls.Conn, n), make([]*bufio.Reader, n)
	ask := func(i int, body string) {
		fmt.Fprintf(conns[i], "POST /pull/whe_pull HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer key_pull.example-consumer-secret\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	}
	read := func(i int) {
		conns[i].SetDeadline(time.Now().Add(20 * time.Second))
		answer, err := http.ReadResponse(answers[i], nil)
		kit.Must(t, err)
		if text, err := io.ReadAll(answer.Body); err != nil || string(text) != `{"deliveries":[]}` {
			t.Fatalf("answered %d %s, %v", answer.StatusCode, text, err)
		}
	}
	for i := range conns {
		conns[i], err = tls.Dial("tcp", at.Host, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"http/1.1"}})
		kit.Must(t, err)
		defer conns[i].Close()
		answers[i] = bufio.NewReaderSize(conns[i], 1024)
		for range 3 {
			ask(i, "{}")
			read(i)
		}
	}
	idle := resident(t, p)
	began := time.Now()
	for i := range conns {
		ask(i, `{"waitSeconds":60}`)
	}
	peak := idle
	for rest := time.NewTicker(100 * time.Millisecond); time.Since(began) < 5*time.Second; <-rest.C {
		peak = max(peak, resident(t, p))
	}
	if t.Logf("idle: %d MiB; waiting: %d MiB", idle, peak); peak-idle > most {
		t.Errorf("1,000 requests that wait cost %d MiB", peak-idle)
	}
	p.StopWell()
	for i := range conns {
		read(i)
	}
}
