package command

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// island is a network of its own, in which each packet that is not for this
// machine goes to wire: there are a default route, and a DNS server beyond it.
type island struct {
	t      *testing.T
	keeper *exec.Cmd // a process that does nothing but live there
}

// Without IPv6, for the kernel itself announces an address of that.
const makeIsland = `set -e
ip link set lo up
ip link add wire type veth peer name far
echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6
ip address add 192.0.2.2/24 dev wire
ip link set far up
ip link set wire arp off up
ip route add default via 192.0.2.1
mount --bind "$0" /etc/resolv.conf
echo made
exec cat`

func newIsland(t *testing.T) *island {
	t.Helper()
	for _, tool := range []string{"unshare", "nsenter", "ip", "mount", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			kit.MustSkip(t, tool+" is not installed; on Debian: apt-get install util-linux mount iproute2 curl")
		}
	}
	resolv, out := filepath.Join(t.TempDir(), "resolv.conf"), kit.NewOutput()
	kit.WriteFile(t, resolv, "nameserver 192.0.2.53\noptions timeout:1 attempts:1\n")
	keeper := exec.Command("unshare", "--net", "--mount", "sh", "-c", makeIsland, resolv)
	keeper.Stdout, keeper.Stderr = out, out
	stdin, err := keeper.StdinPipe() // cat stays until it is closed
	kit.Must(t, err)
	kit.Must(t, keeper.Start())
	ended := make(chan error, 1)
	go func() { ended <- keeper.Wait() }()
	t.Cleanup(func() { stdin.Close(); keeper.Process.Kill() })
	for !strings.Contains(out.String(), "made\n") {
		select {
		case err := <-ended:
			t.Skipf("this machine lets nobody make a network of its own: %v %s", err, out)
		case <-time.After(time.Millisecond):
		}
	}
	return &island{t, keeper}
}

// command is a program on the island.
func (i *island) command(args ...string) *exec.Cmd {
	target := strconv.Itoa(i.keeper.Process.Pid)
	return exec.Command("nsenter", append([]string{"--net", "--mount", "--target", target}, args...)...)
}

var wireRow = regexp.MustCompile(`(?m)^ *wire:((?: +\d+){16})$`)

// sent is how many packets have left the island.
func (i *island) sent() (packets int) {
	i.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/dev", i.keeper.Process.Pid))
	kit.Must(i.t, err)
	row := wireRow.FindSubmatch(text)
	if row == nil {
		i.t.Fatalf("there is no wire:\n%s", text)
	}
	const sentPackets = 9 // behind eight numbers of what came, and the bytes
	packets, err = strconv.Atoi(strings.Fields(string(row[1]))[sentPackets])
	kit.Must(i.t, err)
	return packets
}

// quietOrg has somebody who reads, and no endpoint.
const quietOrg = `{"orgs": [{"id": "org_q", "name": "Quiet",
	"members": [{"id": "mem_1", "userId": "usr_ada", "role": "owner", "name": "Ada", "email": "ada@quiet.example", "createdAt": "2026-01-05T09:00:00.000Z"}],
	"apiKeys": [{"id": "key_read", "secret": "example-reader-secret", "name": "reader", "scopes": ["read"], "createdBy": "usr_ada", "createdAt": "2026-01-06T10:30:00.000Z"}]}]}`

// A server that was not told to call anybody calls nobody: from its start,
// through requests, to its end no packet leaves the machine, not even to ask for
// a name's address. With -size 100 it takes three minutes.
func TestNoCallUnasked(t *testing.T) {
	t.Parallel()
	i, folder := newIsland(t), t.TempDir()
	ready, seed := filepath.Join(folder, "ready.json"), filepath.Join(folder, "org.json")
	kit.WriteFile(t, seed, quietOrg)
	p := program.Begin(t, i.command(program.Binary(t), "serve", "--data", filepath.Join(folder, "teamdata.db"),
		"--listen", "127.0.0.1:0", "--ready-file", ready, "--seed", seed, "--backup-dir", filepath.Join(folder, "backups")))
	p.AwaitReady(ready)
	for n := range kit.Size(5, 180) {
		if n > 5 {
			<-time.After(time.Second)
		}
		i.ask(p, "/api/v1/members", "/api/v1/audit-log", "/api/v1/assistant/instructions", "/readyz")
	}
	p.StopWell()
	if n := i.sent(); n != 0 {
		t.Errorf("%d packets have left the machine\n%s", n, p.Out)
	}
	if err := i.command("curl", "-sS", "--max-time", "1", "http://data.example/").Run(); err == nil || i.sent() == 0 {
		t.Errorf("a call is not seen: %v", err)
	}
}

// ask makes requests from the server's machine, each of which is answered 200.
func (i *island) ask(p *program.Process, paths ...string) {
	i.t.Helper()
	for _, path := range paths {
		out, err := i.command("curl", "-sS", "--fail", "--max-time", "10", "--cacert", p.CAFile,
			"-H", "Authorization: Bearer "+program.ReadKey, p.URL+path).CombinedOutput()
		if err != nil {
			i.t.Errorf("%s: %v %s", path, err, out)
		}
	}
}
