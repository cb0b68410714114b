//go:build linux

package server

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
)

// attacks are what clients can do beside a healthy one.
var attacks = map[string]func(env *testEnv){
	"handshakes":             (*testEnv).halfOpen,
	"heads":                  (*testEnv).slowHeads,
	"resets":                 func(env *testEnv) { env.resets(100 * time.Millisecond) },
	"resets without a pause": func(env *testEnv) { env.resets(0) },
}

// BenchmarkUnderAttack is how long a healthy client waits for an answer, one in a
// hundred longer: quiet, and beside an attack.
func BenchmarkUnderAttack(b *testing.B) {
	for _, name := range slices.Sorted(maps.Keys(attacks)) {
		b.Run(name, func(b *testing.B) { benchmarkUnder(b, name) })
	}
}

func benchmarkUnder(b *testing.B, name string) {
	env, config := newBenchEnv(b)
	addMembers(env, 100)
	healthy := startBench(b, env.server.serveBench(), config, target{request: benchRequest("GET", "/api/v1/members?limit=100", "key_read")})
	client := healthy.dial(b)
	var quiet, attacked, rounds time.Duration
	for b.Loop() {
		quiet += p99(func() { client.exchange(b) })
		stop := attack(b, healthy.addr, name)
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

// attackVariable tells the process of the attackers whom to attack, and how. As
// the callers of the other benchmarks they are not to stand in the server's
// scheduler's queues.
const attackVariable = "TEAMDATA_BENCH_ATTACK"

// attack starts the attackers, and returns once all are connected.
func attack(b *testing.B, addr, name string) (stop func()) {
	child := exec.Command(os.Args[0], "-test.run", "^$", "-test.bench", "^BenchmarkAttackers$", "-test.benchtime", "1x")
	child.Env = append(os.Environ(), attackVariable+"="+addr+" "+name)
	stdin, err := child.StdinPipe()
	kit.Must(b, err)
	stdout, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	kit.Must(b, err)
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
	addr, name, ok := strings.Cut(os.Getenv(attackVariable), " ")
	if !ok {
		b.Skip("only for BenchmarkUnderAttack")
	}
	attacks[name](&testEnv{storeEnv: &storeEnv{TB: b}, addr: addr})
	io.Copy(io.Discard, os.Stdin)
}

// halfOpen begins TLS handshakes that go on by a byte a second.
func (env *testEnv) halfOpen() {
	conns := env.connectMany(attackers(env, 7000), helloBegins)
	fmt.Println(attacking)
	go drip(conns)
}

// slowHeads begins requests whose heads go on by a byte a second.
func (env *testEnv) slowHeads() {
	var conns []net.Conn
	for range attackers(env, 2000) {
		c, err := tls.Dial("tcp", env.addr, &tls.Config{InsecureSkipVerify: true})
		kit.Must(env, err)
		io.WriteString(c, "GET /api/v1/members HTTP/1.1\r\nHost: x\r\nX: ")
		conns = append(conns, c)
	}
	fmt.Println(attacking)
	go drip(conns)
}

// drip ends with the process, as does resets.
func drip(conns []net.Conn) {
	for i := 0; ; i = (i + 1) % len(conns) {
		<-time.After(time.Second / time.Duration(len(conns)))
		io.WriteString(conns[i], "x")
	}
}

// resets opens and resets streams until it is cut off, and comes back after a
// pause.
func (env *testEnv) resets(pause time.Duration) {
	fmt.Println(attacking)
	go func() {
		for {
			c := env.dialH2()
			c.openAndReset("/members", 1000)
			c.Close()
			<-time.After(pause)
		}
	}()
}
