package pull_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	teamdata "teamdata/client"
	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// consumerVariable has the test binary be a consumer instead: a process can be killed.
const consumerVariable = "TEAMDATA_TEST_CONSUMER"

// lease is the shortest that there is: what a killed consumer had comes again when it is over.
const lease = 5 * time.Second

// settings are those of a consumer.
type settings struct {
	URL, CAFile, Book string
	Parallel          int
}

// consume is a consumer until SIGTERM. It writes each event that it handles into its book, in a
// line that is there even if it is killed right after.
func consume(text string) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := consumeUntil(ctx, text); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func consumeUntil(ctx context.Context, text string) error {
	var s settings
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return err
	}
	book, err := os.OpenFile(s.Book, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer book.Close()
	verifier, err := teamdata.NewVerifier(secret)
	if err != nil {
		return err
	}
	config := teamdata.Config{BaseURL: s.URL, Key: receiveKey}
	if s.CAFile != "" {
		if config.HTTP, err = teamdata.TrustCA(s.CAFile); err != nil {
			return err
		}
	}
	return teamdata.New(config).Consume(ctx, teamdata.Consumer{
		Endpoint: "whe_1", Verifier: verifier, Lease: lease, Parallel: s.Parallel, Limit: 20,
		Handle: func(_ context.Context, e teamdata.Event) error {
			_, err := book.WriteString(e.ID + "\n")
			return err
		},
	})
}

// consumer is such a process, which may be started again and again with the same book.
type consumer struct {
	*testing.T
	settings
	process *program.Process
}

func newConsumer(t *testing.T, url, caFile string, parallel int) *consumer {
	c := &consumer{T: t, settings: settings{url, caFile, filepath.Join(t.TempDir(), "book"), parallel}}
	kit.WriteFile(t, c.Book, "")
	return c
}

func (c *consumer) start() {
	c.Helper()
	text, err := json.Marshal(c.settings)
	kit.Must(c, err)
	binary, err := os.Executable()
	kit.Must(c, err)
	cmd := exec.Command(binary)
	cmd.Env = append(os.Environ(), consumerVariable+"="+string(text))
	c.process = program.Begin(c, cmd)
}

// read returns the ids in the book, in order.
func (c *consumer) read() []string {
	c.Helper()
	return strings.Fields(kit.ReadText(c, c.Book))
}
