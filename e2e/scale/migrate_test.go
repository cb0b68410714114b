package scale_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/e2e/kit/program"
	"teamdata/store"
	"teamdata/store/boltstore"
)

// maxMigrateMemory is how many KiB of memory migrate may take, however much it carries.
const maxMigrateMemory = 128 << 10

// From a file to a database and back, the file's export stays the same to the byte, and
// each way takes little memory.
func TestMigrateThereAndBack(t *testing.T) {
	t.Parallel()
	members, entries, deliveries := kit.Size(300, 100_000), kit.Size(1000, 1_000_000), kit.Size(2000, 200_000)
	folder, database := t.TempDir(), postgres.New(t)
	there, back := filepath.Join(folder, "there.db"), filepath.Join(folder, "back.db")
	run(t, "import", kit.SeedOf(t, members, entries), "--data", there)
	deliver(t, there, deliveries)
	migrate(t, there, database)
	migrate(t, database, back)
	copies := []string{database, back}
	if !kit.AtSize() {
		copies = append(copies, postgres.New(t), filepath.Join(folder, "other.db"))
		migrate(t, database, copies[2])
		migrate(t, back, copies[3])
	}
	before := export(t, there)
	for _, data := range copies {
		run(t, "check", "--data", data)
		if after := export(t, data); !bytes.Equal(before, after) {
			t.Errorf("%s: the export has %d bytes before and others after, %d", data, len(before), len(after))
		}
	}
}

// migrate runs the command and prints what it took.
func migrate(t *testing.T, from, to string) {
	t.Helper()
	began := time.Now()
	cmd := command(t, "migrate", "--from", from, "--to", to)
	kit.Must(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	memory := 0
	for look := time.Tick(10 * time.Millisecond); ; {
		select {
		case <-look:
			memory = max(memory, memoryOf(cmd.Process.Pid))
			continue
		case err := <-ended:
			if err != nil {
				t.Fatalf("%v\n%s%s", err, cmd.Stdout, cmd.Stderr)
			}
		}
		break
	}
	t.Logf("%s%v, %d KiB of memory", cmd.Stdout, time.Since(began).Round(time.Millisecond), memory)
	if memory > maxMigrateMemory {
		t.Errorf("it took %d KiB of memory", memory)
	}
}

// memoryOf is how many KiB a process has for itself, without files that are mapped into
// it; 0: the system does not say.
func memoryOf(pid int) (n int) {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if _, rest, found := bytes.Cut(status, []byte("RssAnon:")); found {
		fmt.Sscan(string(rest), &n)
	}
	return n
}

// command is one that may take long.
func command(t *testing.T, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), program.Binary(t), args...)
	cmd.Stdout, cmd.Stderr = new(bytes.Buffer), new(bytes.Buffer)
	return cmd
}

func run(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := command(t, args...)
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s%s", args[0], err, cmd.Stdout, cmd.Stderr)
	}
	return cmd.Stdout.(*bytes.Buffer).Bytes()
}

func export(t *testing.T, data string) []byte {
	t.Helper()
	return run(t, "export", "-", "--data", data)
}

// deliver adds so many deliveries to org_big of a data file: some that wait, some that
// failed at first or for good, and most acknowledged.
func deliver(t *testing.T, data string, n int) {
	t.Helper()
	s, err := boltstore.Open(data, boltstore.Options{NoSync: true})
	kit.Must(t, err)
	update := func(fn func(store.Tx) error) {
		t.Helper()
		kit.Must(t, s.Update(context.Background(), store.All, fn))
	}
	update(func(tx store.Tx) error {
		_, err := store.ImportEndpoint(tx, store.Endpoint{
			OrgID: "org_big", ID: "whe_1", URL: "https://example.com/hook", Events: store.BuiltInEventTypes, Secret: "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
		})
		return err
	})
	for done := 0; done < n; {
		update(func(tx store.Tx) (err error) {
			for range min(1000, n-done) {
				err = errors.Join(err, deliverOne(tx, done))
				done++
			}
			return err
		})
	}
	kit.Must(t, s.Close())
}

func deliverOne(tx store.Tx, i int) error {
	list, err := store.Emit(tx, "org_big", "member.added", fmt.Appendf(nil, `{"id":"m%07d","note":%q}`, i, strings.Repeat("n", i%1500)))
	if err != nil || i%10 == 0 {
		return err
	}
	failed := store.Attempt{StartedAt: tx.Now(), EndedAt: tx.Now().Add(time.Second), Status: 500, Reason: "it answered 500", Answer: []byte("no")}
	if i%10 < 3 {
		_, err = store.RecordAttempt(tx, list[0].ID, failed, store.DefaultRetrySchedule)
	}
	if i%10 != 1 {
		acknowledged := store.Attempt{StartedAt: tx.Now(), EndedAt: tx.Now().Add(time.Millisecond), Status: 204}
		_, errLast := store.RecordAttempt(tx, list[0].ID, acknowledged, store.DefaultRetrySchedule)
		err = errors.Join(err, errLast)
	}
	return err
}

// Killed at any time, migrate leaves nothing at its target, or all, and runs again.
func TestMigrateKilled(t *testing.T) {
	t.Parallel()
	random := kit.Random(t)
	folder, database := t.TempDir(), postgres.New(t)
	there, back := filepath.Join(folder, "there.db"), filepath.Join(folder, "back.db")
	run(t, "import", kit.SeedOf(t, 1000, 10_000), "--data", there)
	deliver(t, there, 2000)
	want := export(t, there)
	began := time.Now()
	migrate(t, there, filepath.Join(folder, "timed.db"))
	took := time.Since(began)
	for _, way := range []struct{ from, to string }{{there, database}, {database, back}} {
		kills := 0
		for {
			cmd := command(t, "migrate", "--from", way.from, "--to", way.to)
			kit.Must(t, cmd.Start())
			if kills < 8 {
				time.AfterFunc(time.Duration(random.Int64N(int64(took))), func() { cmd.Process.Kill() })
				kills++
			}
			err := cmd.Wait()
			out := cmd.Stderr.(*bytes.Buffer).String()
			if err == nil || strings.Contains(out, "is not empty") || strings.Contains(out, "already exists") { // it was killed when it was done
				break
			}
			if out != "" {
				t.Fatalf("after %d kills: %s", kills, out)
			}
		}
		t.Logf("%d kills", kills)
		if got := export(t, way.to); !bytes.Equal(got, want) {
			t.Errorf("after %d kills it has %d bytes of export, not the same %d", kills, len(got), len(want))
		}
	}
	left, err := os.ReadDir(folder)
	kit.Must(t, err)
	for _, file := range left {
		if strings.HasPrefix(file.Name(), ".") {
			t.Errorf("%s is left", file.Name())
		}
	}
}

// A place that is in use, or holds something, is refused, and so is the wrong key.
func TestMigrateRefuses(t *testing.T) {
	kit.NotEveryDay(t)
	t.Parallel()
	folder, database, filled := t.TempDir(), postgres.New(t), postgres.New(t)
	file, sealed, other := filepath.Join(folder, "a.db"), filepath.Join(folder, "sealed.db"), filepath.Join(folder, "other.db")
	key, wrong := kit.SealKey(t, folder), filepath.Join(folder, "wrong.key")
	kit.WriteFile(t, wrong, strings.Repeat("0f", 32))
	run(t, "import", program.Example, "--data", file)
	run(t, "import", program.Example, "--data", sealed, "--seal-key-file", key)
	run(t, "migrate", "--from", sealed, "--to", filled, "--seal-key-file", key)
	refuse := func(from, to, why string, flags ...string) {
		t.Helper()
		out, err := program.Run(t, append([]string{"migrate", "--from", from, "--to", to}, flags...)...)
		if _, ok := program.ErrorOf(out); err == nil || !ok || !strings.Contains(out, why) {
			t.Errorf("%v, and not %q: %s", err, why, out)
		}
	}
	for _, to := range []string{database, other} {
		refuse(filepath.Join(folder, "none.db"), to, "does not exist")
		refuse(sealed, to, "is sealed\n  hint: give the key file")
		refuse(sealed, to, "is not the one that it was sealed with", "--seal-key-file", wrong)
		refuse(filled, to, "is sealed\n  hint: give the key file")
		refuse(filled, to, "is not the one that it was sealed with", "--seal-key-file", wrong)
		refuse(file, to, "is not sealed", "--seal-key-file", key)
	}
	refuse(file, filled, "is not empty")
	refuse(file, sealed, "already exists")
	refuse(file, file, "are the same")
	run(t, "migrate", "--from", filled, "--to", other, "--seal-key-file", key)
	if !bytes.Equal(exportSealed(t, other, key), exportSealed(t, sealed, key)) {
		t.Error("the sealed file came back as another")
	}

	p := program.Serve(t, file)
	refuse(file, database, "in use")
	p.StopWell()
	p = program.Serve(t, database, "--state-dir", folder)
	refuse(file, database, "in use")
	refuse(database, filepath.Join(folder, "new.db"), "in use")
	p.StopWell()
}

func exportSealed(t *testing.T, data, key string) []byte {
	t.Helper()
	return run(t, "export", "-", "--data", data, "--seal-key-file", key)
}
