package serve_test

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// Clients without a key that read no answer get no more memory than docs/hardening.md says,
// and an ordinary one goes on beside them. Afterwards the memory goes back to the system.
func TestUnreadAnswers(t *testing.T) {
	kit.NotEveryDay(t)
	longest := 250 * time.Millisecond
	if !kit.AtSize() {
		longest = time.Second // the tests of other packages run beside it
	}
	for _, row := range []struct{ addresses, most int }{{1, 100}, {10, 256}} {
		p := program.Serve(t, filepath.Join(t.TempDir(), "teamdata.db"), "--seed", program.Example)
		end := beginAttack(t, p, row.addresses)
		var took []time.Duration
		peak := 0
		over := time.After(time.Duration(kit.Size(10, 60)) * time.Second)
		for pause := time.NewTicker(650 * time.Millisecond); ; <-pause.C { // within the limit of its key
			if len(took)%2 == 0 {
				p.Client.CloseIdleConnections() // the next request has a handshake before it
			}
			began := time.Now()
			if answer := p.Must("GET", "/members", program.ReadKey); answer.Status != 200 {
				t.Errorf("an ordinary client is answered %d", answer.Status)
			}
			took = append(took, time.Since(began))
			peak = max(peak, resident(t, p))
			select {
			case <-over:
			default:
				continue
			}
			break
		}
		slices.Sort(took)
		attacked := end()
		// The server gives memory back once it is idle, and that is not until it has closed
		// what the attackers left.
		p.Await("the memory's return to the system", func() bool { return resident(t, p) <= 64 })
		half, slowest := took[len(took)/2], took[len(took)*99/100]
		t.Logf("%d addresses, %s: %d MiB at most; of an ordinary client's %d requests half took %v or more, one in a hundred %v", row.addresses, attacked, peak, len(took), half, slowest)
		if peak > row.most {
			t.Errorf("more than %d MiB", row.most)
		}
		if slowest > longest {
			t.Errorf("one in a hundred of an ordinary client's requests took more than %v", longest)
		}
		p.StopWell()
	}
}

// resident is the memory of a server, in MiB.
func resident(t *testing.T, p *program.Process) (mib int) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Cmd.Process.Pid))
	kit.Must(t, err)
	_, line, _ := strings.Cut(string(status), "VmRSS:")
	_, err = fmt.Sscan(line, &mib)
	kit.Must(t, err)
	return mib / 1024
}

// attackServer and attackAddresses are in the environment of a child that attacks a server
// from so many addresses, until its input ends.
const (
	attackServer    = "TEAMDATA_TEST_ATTACK_SERVER"
	attackAddresses = "TEAMDATA_TEST_ATTACK_ADDRESSES"
)

func init() {
	addresses, err := strconv.Atoi(os.Getenv(attackAddresses))
	if err != nil {
		return
	}
	a := attack{server: os.Getenv(attackServer)}
	fmt.Print("attacked by ") // before the attackers take what processors are left
	for address := range addresses {
		a.from(net.IPv4(127, 1, 0, byte(address+1)), 250)
	}
	io.Copy(io.Discard, os.Stdin)
	a.ended.Store(true)
	a.all.Wait()
	fmt.Printf("%d connections, %d requests", a.connections.Load(), a.requests.Load())
	os.Exit(0)
}

// beginAttack attacks a server until end is called, which returns how. Attackers are elsewhere
// and have processors of their own. Here they are a process that gets what the server and its
// ordinary client leave: in that client's process, its requests would wait for the thousands
// of handshakes of the attackers.
func beginAttack(t *testing.T, p *program.Process, addresses int) (end func() string) {
	t.Helper()
	self, err := os.Executable()
	kit.Must(t, err)
	cmd := exec.Command("nice", "-n", "19", self)
	cmd.Env = append(os.Environ(), attackServer+"="+strings.TrimPrefix(p.URL, "https://"), fmt.Sprintf("%s=%d", attackAddresses, addresses))
	input, err := cmd.StdinPipe()
	kit.Must(t, err)
	attacker := program.Begin(t, cmd)
	attacker.Says("attacked")
	return func() string {
		input.Close()
		kit.Must(t, cmd.Wait())
		return attacker.Out.String()
	}
}

// attack is many clients who send as many requests as they may on HTTP/2, and take none of
// the answers. Who is sent away comes again.
type attack struct {
	server                string
	connections, requests atomic.Int64
	ended                 atomic.Bool
	all                   sync.WaitGroup
}

func (a *attack) from(address net.IP, connections int) {
	dialer := &tls.Dialer{
		NetDialer: &net.Dialer{LocalAddr: &net.TCPAddr{IP: address}},
		Config:    &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}},
	}
	for range connections {
		a.all.Go(func() {
			for !a.ended.Load() {
				if c, err := dialer.Dial("tcp", a.server); err == nil {
					a.connections.Add(1)
					a.attack(c)
					c.Close()
				}
			}
		})
	}
}

func (a *attack) attack(c net.Conn) {
	var request, sent bytes.Buffer
	h := hpack.NewEncoder(&request)
	for _, field := range []string{":method GET", ":scheme https", ":authority localhost", ":path /api/v1/openapi.json"} {
		name, value, _ := strings.Cut(field, " ")
		h.WriteField(hpack.HeaderField{Name: name, Value: value})
	}
	sent.WriteString(http2.ClientPreface)
	frames := http2.NewFramer(&sent, c)
	frames.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	for stream := range uint32(100) {
		frames.WriteHeaders(http2.HeadersFrameParam{StreamID: 2*stream + 1, BlockFragment: request.Bytes(), EndStream: true, EndHeaders: true})
		a.requests.Add(1)
	}
	c.Write(sent.Bytes())
	for !a.ended.Load() {
		c.SetReadDeadline(time.Now().Add(time.Second))
		switch f, err := frames.ReadFrame(); {
		case err != nil && !os.IsTimeout(err):
			return
		case err == nil && f.Header().Type == http2.FrameGoAway:
			return
		}
	}
}
