package kill_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"teamdata/admin/socket"
	"teamdata/app"
	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
	"teamdata/store"
)

// While writers add entries to the audit logs of several orgs, the server and those that
// follow the logs are killed and started again. On the standard output each entry comes at
// least once, and again only past the saved cursor; in a file each comes exactly once. In
// both an org's entries are in order.
func TestAuditTailKilled(t *testing.T) { program.OnEngines(t, auditTailKilled) }

func auditTailKilled(t *testing.T, data *program.Data) {
	kills := kit.Size(3, 20)
	random := kit.Random(t)
	orgs := []string{"org_a", "org_b", "org_c"}
	for _, org := range orgs[:2] {
		data.MustRun("org", "create", "--name", org, "--id", org)
	}
	w := tailWriters{socket: app.SocketPath("", data.At, filepath.Join(append(data.Beside, "")[min(1, len(data.Beside)):]...))}
	folder := t.TempDir()
	printed := tailProcess{data: data, folder: folder, flags: []string{"--cursor-file", filepath.Join(folder, "cursor")}}
	output := filepath.Join(folder, "audit.jsonl")
	filed := tailProcess{data: data, folder: folder, flags: []string{"--output", output}}
	filed.begin() // before there is a server

	server := data.Serve()
	data.MustRun("org", "create", "--name", orgs[2], "--id", orgs[2])
	printed.begin()
	writing, stop := context.WithCancel(t.Context())
	for _, org := range orgs {
		w.group.Go(func() { w.write(writing, t, org) })
	}
	grown := int64(-1)
	for i := range kills {
		server.Await("more in the file", func() bool {
			info, err := os.Stat(output)
			return err == nil && info.Size() > grown
		})
		if i%2 == 0 {
			w.awaits(server, 1+random.IntN(100))
		}
		filed.kill()
		printed.kill()
		if i == kills-1 {
			tearTail(t, output)
		}
		if i%2 == 1 {
			server.Kill()
			data.IsSound()
			server = data.Serve()
		}
		info, err := os.Stat(output)
		kit.Must(t, err)
		grown = info.Size()
		filed.begin()
		printed.begin()
		if i%2 == 0 {
			w.awaits(server, 1+random.IntN(100))
			server.Kill() // under them
			data.IsSound()
			server = data.Serve()
		}
	}
	stop()
	w.group.Wait()
	w.oneMore(t, orgs)

	total := int(w.acked.Load())
	lines := func(content []byte) int { return bytes.Count(content, []byte("\n")) }
	server.Await("all in the file", func() bool {
		content, err := os.ReadFile(output)
		return err == nil && lines(content) >= total+len(orgs)
	})
	server.Await("the last entries in print", func() bool {
		last := 0
		for _, org := range orgs {
			if bytes.Contains(printed.last(), []byte(`{"orgId":"`+org+`","id":"`+w.last[org]+`"`)) {
				last++
			}
		}
		return last == len(orgs)
	})
	printed.stop()
	filed.stop()
	server.StopWell()
	var want map[string][]string
	onEngine(data, func(s store.Store) error {
		return s.View(t.Context(), func(tx store.Tx) error {
			want = map[string][]string{}
			for _, org := range orgs {
				page, err := tx.AuditPage(org, store.Cursor{}, 1<<20, []byte{'['})
				if err != nil {
					return err
				}
				entries, err := store.AuditEntries(page)
				if err != nil {
					return err
				}
				for _, e := range entries {
					want[org] = append(want[org], store.CursorOf(e.CreatedAt, e.ID).String())
				}
			}
			return nil
		})
	})
	content, err := os.ReadFile(output)
	kit.Must(t, err)
	got, torn := tailPositions(t, content)
	if torn {
		t.Error("the file ends with a torn line")
	}
	for _, org := range orgs {
		if !slices.Equal(got[org], want[org]) {
			t.Errorf("%s has %d entries, and the file %d, or in another order", org, len(want[org]), len(got[org]))
		}
	}
	printed.holds(t, want)
	t.Logf("%d entries in 3 orgs, %d kills; %d lines were printed again", total+len(orgs), kills, printed.again)
}

// tailWriters add entries, each once.
type tailWriters struct {
	socket string
	group  sync.WaitGroup
	acked  atomic.Int64
	mu     sync.Mutex
	last   map[string]string // the id of each org's last entry
}

// write adds entries to an org, one after the other, each again until it is answered.
func (w *tailWriters) write(ctx context.Context, t *testing.T, org string) {
	for i := 0; ctx.Err() == nil; i++ {
		w.add(t, org, fmt.Sprint(org, " ", i))
	}
}

func (w *tailWriters) add(t *testing.T, org, key string) {
	for deadline := time.Now().Add(time.Minute); ; {
		client, err := socket.Client(context.Background(), w.socket)
		if err == nil && client != nil {
			var status int
			var answer string
			status, answer, err = program.Operator{TB: t, Client: client}.Do("POST", "/orgs/"+org+"/audit-log", `{"action":"a.b"}`, "Idempotency-Key", key)
			client.CloseIdleConnections()
			var e struct{ ID string }
			if err == nil && status == http.StatusCreated && json.Unmarshal([]byte(answer), &e) == nil {
				w.mu.Lock()
				defer w.mu.Unlock()
				if w.last == nil {
					w.last = map[string]string{}
				}
				w.last[org] = e.ID
				w.acked.Add(1)
				return
			}
		}
		if time.Now().After(deadline) {
			t.Errorf("%s: no answer: %v", key, err)
			return
		}
		<-time.After(5 * time.Millisecond) // the server is killed, and comes back
	}
}

func (w *tailWriters) oneMore(t *testing.T, orgs []string) {
	for _, org := range orgs {
		w.add(t, org, org+" last")
	}
}

// awaits waits for some more entries.
func (w *tailWriters) awaits(p *program.Process, n int) {
	p.T.Helper()
	least := w.acked.Load() + int64(n)
	p.Await("some entries", func() bool { return w.acked.Load() >= least })
}

// tailProcess is an audit tail that is killed, and started again. What each run prints is in
// a file of its own.
type tailProcess struct {
	data   *program.Data
	folder string
	flags  []string
	p      *program.Process
	runs   []string                  // the files
	saved  []map[string]store.Cursor // at the end of each run but the last
	again  int
}

func (p *tailProcess) begin() {
	p.data.Helper()
	path := filepath.Join(p.folder, fmt.Sprint("run", len(p.runs), filepath.Base(p.flags[1])))
	out, err := os.Create(path)
	kit.Must(p.data, err)
	defer out.Close()
	cmd := exec.Command(program.Binary(p.data), p.data.Command(append([]string{"audit", "tail", "--follow"}, p.flags...)...)...)
	cmd.Stdout = out
	p.p, p.runs = program.Begin(p.data, cmd), append(p.runs, path)
}

func (p *tailProcess) kill() {
	p.data.Helper()
	p.p.Kill()
	if p.flags[0] != "--cursor-file" {
		return
	}
	saved := map[string]store.Cursor{}
	var kept struct{ At map[string]string }
	content, err := os.ReadFile(p.flags[1])
	if !errors.Is(err, fs.ErrNotExist) { // else it was killed before it saved any
		kit.Must(p.data, err)
		kit.Must(p.data, json.Unmarshal(content, &kept))
	}
	for org, text := range kept.At {
		saved[org], _ = store.ParseCursor(text)
	}
	p.saved = append(p.saved, saved)
}

// last is what the run that runs has printed.
func (p *tailProcess) last() []byte {
	content, err := os.ReadFile(p.runs[len(p.runs)-1])
	kit.Must(p.data, err)
	return content
}

// stop ends it as a service manager does.
func (p *tailProcess) stop() {
	p.data.Helper()
	p.p.Cmd.Process.Signal(syscall.SIGTERM)
	if err := p.p.Cmd.Wait(); err != nil {
		p.data.Errorf("audit tail ended with %v\n%s", err, p.p.Out)
	}
}

// holds holds the runs to what the logs have.
func (p *tailProcess) holds(t *testing.T, want map[string][]string) {
	t.Helper()
	all := map[string]map[string]bool{}
	for i, run := range p.runs {
		content, err := os.ReadFile(run)
		kit.Must(t, err)
		got, _ := tailPositions(t, content)
		for org, list := range got {
			at := slices.Index(want[org], list[0])
			if at < 0 || !slices.Equal(list, want[org][at:min(len(want[org]), at+len(list))]) {
				t.Errorf("run %d: the entries of %s are not a part of its log, in order", i, org)
			}
			if first, _ := store.ParseCursor(list[0]); i > 0 && first.Compare(p.saved[i-1][org]) <= 0 {
				t.Errorf("run %d prints %s of %s again, which is not past the saved %s", i, first, org, p.saved[i-1][org])
			}
			if all[org] == nil {
				all[org] = map[string]bool{}
			}
			for _, at := range list {
				if all[org][at] {
					p.again++
				}
				all[org][at] = true
			}
		}
	}
	for org, list := range want {
		if len(all[org]) != len(list) {
			t.Errorf("%d of the %d entries of %s were printed", len(all[org]), len(list), org)
		}
	}
}

// tailPositions are the positions of each org's lines, without a torn one at the end.
func tailPositions(t *testing.T, content []byte) (at map[string][]string, torn bool) {
	t.Helper()
	at = map[string][]string{}
	for line := range bytes.Lines(content) {
		var e store.AuditEntry
		if !bytes.HasSuffix(line, []byte("\n")) {
			return at, true
		}
		kit.Must(t, json.Unmarshal(line, &e))
		at[e.OrgID] = append(at[e.OrgID], store.CursorOf(e.CreatedAt, e.ID).String())
	}
	return at, false
}

// tearTail makes of a file and its cursor file what a crash between the two leaves: no
// positions are saved, and the last line is half written.
func tearTail(t *testing.T, output string) {
	t.Helper()
	content := kit.ReadText(t, output)
	end := strings.LastIndexByte(strings.TrimSuffix(content, "\n"), '\n') + 1
	kit.Must(t, os.Truncate(output, int64(end+(len(content)-end)/2)))
	kit.Must(t, os.Remove(output+".cursor"))
}
