package admin

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/store"
	"teamdata/store/boltstore"
)

// BenchmarkBatch appends audit entries, 1,000 a call, on 4 connections to a real
// socket, each call committed to the disk before its answer. Its baselines are the
// same bytes read by a handler that does nothing with them, and the same entries
// appended without HTTP and JSON. "entries/s" are those of each.
func BenchmarkBatch(b *testing.B) {
	b.Run("api", func(b *testing.B) {
		s := benchStore(b)
		client := socketClient(b, New(s, Config{}).Local())
		appendInTurns(b, func(text string) error { return post(client, text) })
	})
	b.Run("bare handler", func(b *testing.B) {
		client := socketClient(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			w.WriteHeader(http.StatusCreated)
			w.Write(make([]byte, 33*maxPlaces))
		}))
		appendInTurns(b, func(text string) error { return post(client, text) })
	})
	b.Run("bare updates", func(b *testing.B) {
		s := benchStore(b)
		appendInTurns(b, func(string) error { return s.Update(context.Background(), store.All, appendBare) })
	})
}

func appendBare(tx store.Tx) error {
	for i := range maxPlaces {
		e := store.AuditEntry{OrgID: "org_acme", ActorID: "usr_ada", Action: "door.opened", TargetID: fmt.Sprint("door_", i)}
		if _, err := store.AppendAudit(tx, e); err != nil {
			return err
		}
	}
	return nil
}

func benchStore(b *testing.B) *boltstore.Store {
	b.Helper()
	s, err := boltstore.Open(filepath.Join(b.TempDir(), "teamdata.db"), boltstore.Options{})
	kit.Must(b, err)
	b.Cleanup(func() { s.Close() })
	err = s.Update(b.Context(), store.All, func(tx store.Tx) error {
		_, err := store.ImportOrg(tx, store.Org{ID: "org_acme", Name: "Acme"})
		return err
	})
	kit.Must(b, err)
	return s
}

func post(client *http.Client, text string) error {
	answer, err := client.Post("http://teamdata"+basePath+"/orgs/org_acme/audit-log/batch", "application/json", strings.NewReader(text))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusCreated {
		return fmt.Errorf("answered %s", answer.Status)
	}
	return nil
}

// appendInTurns makes b.N calls from 4 callers.
func appendInTurns(b *testing.B, call func(text string) error) {
	text := batchText()
	calls := make(chan struct{})
	var all sync.WaitGroup
	b.ResetTimer()
	for range 4 {
		all.Go(func() {
			for range calls {
				if err := call(text); err != nil {
					b.Error(err)
				}
			}
		})
	}
	for range b.N {
		calls <- struct{}{}
	}
	close(calls)
	all.Wait()
	b.ReportMetric(float64(b.N*maxPlaces)/b.Elapsed().Seconds(), "entries/s")
	b.ReportMetric(0, "ns/op")
}

func batchText() string {
	var text strings.Builder
	text.WriteString(`{"entries":[`)
	for i := range maxPlaces {
		if i > 0 {
			text.WriteByte(',')
		}
		fmt.Fprintf(&text, `{"actorId":"usr_ada","action":"door.opened","targetId":"door_%d"}`, i)
	}
	return text.String() + "]}"
}
