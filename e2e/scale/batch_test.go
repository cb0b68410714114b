package scale_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
	"teamdata/store"
)

const batchSize = 1000

// batchOf is the body of a batch of members, whose users have the batch's number.
func batchOf(batch int) string {
	type member struct {
		UserID string `json:"userId"`
		Role   string `json:"role"`
		Name   string `json:"name"`
		Email  string `json:"email"`
	}
	members := make([]member, batchSize)
	for i := range members {
		user := fmt.Sprintf("usr_%d_%d", batch, i)
		members[i] = member{user, store.RoleMember, "Name of " + user, user + "@acme.example"}
	}
	body, _ := json.Marshal(map[string]any{"members": members})
	return string(body)
}

// Members pushed by batches on one connection: 100,000 at full size, in less than 30
// seconds.
func TestMemberBatches(t *testing.T) {
	batches := kit.Size(5, 100)
	data := filepath.Join(t.TempDir(), "teamdata.db")
	p := program.Serve(t, data, "--seed", program.Example)
	o := program.NewOperator(t, data)
	began := time.Now()
	for b := range batches {
		if status, answer, err := o.Do("POST", "/orgs/org_acme/members/batch", batchOf(b)); err != nil || status != http.StatusCreated {
			t.Fatalf("batch %d was answered %d %.200s (%v)", b, status, answer, err)
		}
	}
	took := time.Since(began)
	t.Logf("%d members in %.1f s, %.0f a second", batches*batchSize, took.Seconds(), float64(batches*batchSize)/took.Seconds())
	if took > 30*time.Second {
		t.Error("that took longer than 30 s")
	}
	p.StopWell()
	for b, n := range membersOfBatches(t, data, batches) {
		if n != batchSize {
			t.Errorf("of batch %d there are %d members", b, n)
		}
	}
}

// A server that is killed while batches come in holds each of them whole or not at
// all, and all that it has answered.
func TestBatchesKilled(t *testing.T) {
	t.Parallel()
	kills := kit.Size(3, 15)
	random := kit.Random(t)
	data := filepath.Join(t.TempDir(), "teamdata.db")
	program.MustRun(t, "import", "--data", data, program.Example)
	sent, answered, whole := 0, map[int]bool{}, 0
	for range kills {
		p := program.Serve(t, data)
		o := program.NewOperator(t, data)
		time.AfterFunc(time.Duration(20+random.IntN(300))*time.Millisecond, func() { p.Cmd.Process.Kill() })
		for {
			status, answer, err := o.Do("POST", "/orgs/org_acme/members/batch", batchOf(sent))
			if sent++; err != nil {
				break
			}
			if status != http.StatusCreated {
				t.Fatalf("batch %d was answered %d %.200s", sent-1, status, answer)
			}
			answered[sent-1] = true
		}
		p.Cmd.Wait()
		program.MustRun(t, "check", "--data", data)
		whole = 0
		for b, n := range membersOfBatches(t, data, sent) {
			switch {
			case n == batchSize:
				whole++
			case n != 0:
				t.Errorf("of batch %d there are %d members", b, n)
			case answered[b]:
				t.Errorf("batch %d was answered and is not there", b)
			}
		}
	}
	t.Logf("%d kills: of %d batches %d were answered and %d are there", kills, sent, len(answered), whole)
}

// membersOfBatches counts, in a file that no server has open, the members of each
// batch.
func membersOfBatches(t *testing.T, data string, batches int) []int {
	t.Helper()
	s := (&program.Data{T: t, At: data}).Open()
	defer s.Close()
	found := make([]int, batches)
	err := s.View(context.Background(), func(tx store.Tx) error {
		for b := range batches {
			for i := range batchSize {
				switch _, err := tx.Member("org_acme", fmt.Sprintf("usr_%d_%d", b, i)); {
				case err == nil:
					found[b]++
				case !store.IsNotFound(err):
					return err
				}
			}
		}
		return nil
	})
	kit.Must(t, err)
	return found
}
