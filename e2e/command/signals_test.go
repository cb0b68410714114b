//go:build unix

package command

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// timeout(1) sends its signal to the process and to its group, that is twice.
func TestSecondTermIsOfTheFirst(t *testing.T) {
	t.Parallel()
	for range 5 {
		folder := t.TempDir()
		p := program.Serve(t, filepath.Join(folder, "teamdata.db"))
		for range 3 {
			p.Cmd.Process.Signal(syscall.SIGTERM)
		}
		if err := p.Cmd.Wait(); err != nil {
			t.Fatalf("it ended with %v\n%s", err, p.Out)
		}
		if left, _ := filepath.Glob(filepath.Join(folder, "*.sock")); len(left) > 0 {
			t.Errorf("it left %v", left)
		}
	}
}

// A signal during the start is a stop like any other.
func TestStoppedWhileItStarts(t *testing.T) {
	for _, made := range []string{"teamdata.db", "teamdata.db.ca.pem", "teamdata.db.sock"} {
		data := filepath.Join(t.TempDir(), "teamdata.db")
		p := program.Begin(t, exec.Command(program.Binary(t), "serve", "--data", data, "--listen", "127.0.0.1:0"))
		p.Await(made, func() bool {
			_, err := os.Lstat(filepath.Join(filepath.Dir(data), made))
			return err == nil
		})
		if err := p.Stop(); err != nil {
			t.Errorf("with %s made it ended with %v\n%s", made, err, p.Out)
		}
	}
}

// Interrupts of the first second belong to the first one; a later one ends a stop
// that waits for a client.
func TestSecondInterruptEndsAtOnce(t *testing.T) {
	t.Parallel()
	p := program.Serve(t, filepath.Join(t.TempDir(), "teamdata.db"), "--http", "--seed", program.Example)
	c, err := net.Dial("tcp", strings.TrimPrefix(p.URL, "http://"))
	kit.Must(t, err)
	defer c.Close()
	// The server waits for a body that does not come.
	fmt.Fprintf(c, "POST /api/v1/webhooks/whe_hook/test HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n", program.WriteKey)
	if line, err := bufio.NewReader(c).ReadString('\n'); !strings.Contains(line, " 100 ") {
		t.Fatalf("got %q, %v", line, err)
	}
	begun, ended := time.Now(), make(chan error, 1)
	p.Cmd.Process.Signal(os.Interrupt)
	go func() { ended <- p.Cmd.Wait() }()
	p.Await("its end", func() bool {
		p.Cmd.Process.Signal(os.Interrupt)
		return len(ended) > 0
	})
	failed, ok := (<-ended).(*exec.ExitError)
	if !ok || failed.ExitCode() != exitInterrupted || time.Since(begun) < time.Second {
		t.Errorf("after %s it ended with %v\n%s", time.Since(begun), failed, p.Out)
	}
}

// A SIGHUP from main's first line on does not end a server that has no terminal. What is
// read from the environment comes before all that serve does itself; this file is one that
// makes it wait there.
func TestHangupWhileItStarts(t *testing.T) {
	folder := t.TempDir()
	pipe, data, ready := filepath.Join(folder, "pipe"), filepath.Join(folder, "teamdata.db"), filepath.Join(folder, "ready.json")
	kit.Must(t, syscall.Mkfifo(pipe, 0o600))
	cmd := exec.Command(program.Binary(t), "serve", "--listen", "127.0.0.1:0", "--ready-file", ready)
	cmd.Env = append(os.Environ(), "TEAMDATA_DATA_FILE="+pipe)
	p := program.Begin(t, cmd)
	w, err := os.OpenFile(pipe, os.O_WRONLY, 0) // until it is read
	kit.Must(t, err)
	kit.Must(t, cmd.Process.Signal(syscall.SIGHUP))
	_, err = w.WriteString(data)
	kit.Must(t, err)
	kit.Must(t, w.Close())
	p.AwaitReady(ready)
	if a := p.Must("GET", "/members", program.ReadKey); a.Status != 401 { // for the data is new
		t.Errorf("answered %d", a.Status)
	}
	p.StopWell()
}

// Away from a terminal a SIGHUP makes it read certificates again, and go on.
func TestHangupReadsCertificates(t *testing.T) {
	p := program.Serve(t, filepath.Join(t.TempDir(), "teamdata.db"), "--seed", program.Example)
	for range 3 {
		kit.Must(t, p.Cmd.Process.Signal(syscall.SIGHUP))
		if a := p.Must("GET", "/members", program.ReadKey); a.Status != 200 {
			t.Errorf("answered %d", a.Status)
		}
	}
	if err := p.Stop(); err != nil {
		t.Errorf("it ended with %v\n%s", err, p.Out)
	}
}
