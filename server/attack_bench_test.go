//go:build linux

package server

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkUnderAttack is how long a healthy client waits for an answer, one in a
// hundred longer: quiet, and beside an attack of half-open handshakes that go on
// by a byte a second, and of streams that are opened and reset without a pause.
func BenchmarkUnderAttack(b *testing.B) {
	w, config := newBenchWorld(b)
	addMembers(w)
	healthy := startBench(b, w.server.serveBench(), config, target{request: benchRequest("GET", "/api/v1/members?limit=100", "key_read")})
	client := healthy.dial(b)
	var quiet, attacked, rounds time.Duration
	for b.Loop() {
		quiet += p99(func() { client.exchange(b) })
		stop := attack(b, healthy.addr)
		attacked += p99(func() { client.exchange(b) })
		stop()
		rounds++
	}
	b.ReportMetric(float64((quiet / rounds).Microseconds()), "quiet-p99-µs")
	b.ReportMetric(float64((attacked / rounds).Microseconds()), "attacked-p99-µs")
	b.ReportMetric(float64(attacked)/float64(quiet), "ratio")
	b.ReportMetric(0, "ns/op")
}

func p99(do func()) time.Duration {
	times := make([]time.Duration, 2000)
	for i := range times {
		times[i] = timed(do)
	}
	slices.Sort(times)
	return times[len(times)*99/100]
}

// attackVariable tells the process of the attackers whom to attack. As the
// callers of the other benchmarks they are not to stand in the server's
// scheduler's queues.
const attackVariable = "TEAMDATA_BENCH_ATTACK"

// attack starts the attackers, and returns once all are connected.
func attack(b *testing.B, addr string) (stop func()) {
	child := exec.Command(os.Args[0], "-test.run", "^$", "-test.bench", "^BenchmarkAttackers$", "-test.benchtime", "1x")
	child.Env = append(os.Environ(), attackVariable+"="+addr)
	stdin, err := child.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	stdout, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		b.Fatal(err)
	}
	said := bufio.NewScanner(stdout)
	for said.Scan() && !strings.HasSuffix(said.Text(), attacking) {
	}
	return func() {
		stdin.Close()
		io.Copy(io.Discard, stdout)
		if err := child.Wait(); err != nil {
			b.Error(err)
		}
	}
}

// attacking is what the attackers say once they are connected.
const attacking = "attacking"

// BenchmarkAttackers is the process of attack. It goes on until its standard input
// ends.
func BenchmarkAttackers(b *testing.B) {
	addr := os.Getenv(attackVariable)
	if addr == "" {
		b.Skip("only for BenchmarkUnderAttack")
	}
	w := &world{TB: b, addr: addr}
	conns := w.connectMany(7000, helloBegins)
	fmt.Println(attacking)
	go func() { // ends with the process
		for i := 0; ; i = (i + 1) % len(conns) {
			<-time.After(time.Second / time.Duration(len(conns)))
			io.WriteString(conns[i], "x")
		}
	}()
	go func() {
		for {
			c := w.dialH2()
			c.openAndReset("/members", 1000)
			c.Close()
		}
	}()
	io.Copy(io.Discard, os.Stdin)
}
