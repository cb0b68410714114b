package kill_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// Idempotency rule 1 across a crash: killed right after the answer, the replay
// is byte for byte the first answer.
func TestReplayAfterKill(t *testing.T) { program.OnEngines(t, replayAfterKill) }

func replayAfterKill(t *testing.T, data *program.Data) {
	p := data.Serve("--seed", program.Example)
	first := p.Must("POST", "/webhooks/whe_hook/test", program.WriteKey, "Idempotency-Key", "once")
	missing := p.Must("POST", "/webhooks/whe_none/test", program.WriteKey, "Idempotency-Key", "missing")
	p.Kill()

	p = data.Serve()
	for key, before := range map[string]kit.Answer{"once": first, "missing": missing} {
		path := map[string]string{"once": "/webhooks/whe_hook/test", "missing": "/webhooks/whe_none/test"}[key]
		again := p.Must("POST", path, program.WriteKey, "Idempotency-Key", key)
		if again.Body != before.Body || again.Status != before.Status || again.Header.Get("Content-Type") != before.Header.Get("Content-Type") {
			t.Errorf("the replay is %d %s, the first answer was %d %s", again.Status, again.Body, before.Status, before.Body)
		}
		if again.Header.Get("Idempotent-Replayed") != "true" || before.Header.Get("Idempotent-Replayed") != "" {
			t.Error("Idempotent-Replayed marks the wrong answer")
		}
	}
}

// Killed at random moments of 200 POSTs, restarted, and each POST made again
// until it is answered: each key has exactly one delivery.
func TestKilledAtRandom(t *testing.T) { program.OnEngines(t, killedAtRandom) }

func killedAtRandom(t *testing.T, data *program.Data) {
	random := kit.Random(t)
	flags := []string{"--key-rate", "0", "--client-rate", "0"}
	p := data.ServeNew(append(flags, "--seed", program.Example)...)
	const posts = 200
	answers := make([]map[string]bool, posts) // the ids that each key was answered with
	for i := range answers {
		answers[i] = map[string]bool{}
	}
	for round := 0; ; round++ {
		last := round == 8
		killed := make(chan struct{})
		if last {
			close(killed)
		} else {
			after := time.Duration(random.IntN(25)) * time.Millisecond
			time.AfterFunc(after, func() { p.Cmd.Process.Kill(); close(killed) })
		}
		postAll(t, p, answers)
		<-killed
		if last {
			break
		}
		p.Cmd.Wait()
		data.IsSound()
		p = data.Serve(flags...)
	}
	ids := map[string]bool{}
	for key, got := range answers {
		if len(got) != 1 {
			t.Errorf("key %d was answered with %d deliveries: %v", key, len(got), got)
		}
		for id := range got {
			ids[id] = true
		}
	}
	p.Kill()
	if n := data.Deliveries(); n != posts || len(ids) != posts {
		t.Errorf("there are %d deliveries, and %d were answered; there are %d keys", n, len(ids), posts)
	}
}

// postAll makes the 200 POSTs, 8 at a time, until the server is gone.
func postAll(t *testing.T, p *program.Process, answers []map[string]bool) {
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			for i := worker; i < len(answers); i += 8 {
				a, err := p.Do("POST", "/webhooks/whe_hook/test", program.WriteKey, "Idempotency-Key", fmt.Sprint("key ", i))
				if err != nil {
					return
				}
				var body struct{ ID string }
				if json.Unmarshal([]byte(a.Body), &body) != nil || a.Status != 200 {
					t.Errorf("key %d was answered %d %s", i, a.Status, a.Body)
					return
				}
				answers[i][body.ID] = true
			}
		})
	}
	group.Wait()
}
