package bench

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"time"
)

// readyTimeout is how long a start may take: that with the largest backlog.
const readyTimeout = 2 * time.Minute

// appliance is a running `teamdata serve`.
type appliance struct {
	*child
	server target
	began  time.Time // when the process was started
	ready  time.Time // when it listened
}

// target is a server to be asked.
type target struct {
	Address string // host:port
	roots   *x509.CertPool
}

// serve runs the appliance on a data file, without limits, and waits until it
// is ready. webhookCA is the file of the receivers' authority.
func (s *session) serve(ctx context.Context, data, webhookCA string, flags ...string) (*appliance, error) {
	readyFile := data + ".ready"
	if err := os.Remove(readyFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err // that of the start before would be taken for this one's
	}
	args := append([]string{
		"serve", "--data", data, "--listen", "127.0.0.1:0", "--ready-file", readyFile,
		"--webhook-ca", webhookCA, "--allow-endpoint-cidr", "127.0.0.0/8", "--key-rate", "0", "--client-rate", "0",
	}, flags...)
	a := &appliance{child: s.newChild(ctx, "the appliance", args...), began: time.Now()}
	if err := a.start(); err != nil {
		return nil, err
	}
	if err := a.awaitReady(ctx, readyFile); err != nil {
		a.kill()
		return nil, err
	}
	return a, nil
}

func (a *appliance) awaitReady(ctx context.Context, file string) error {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	deadline := time.After(readyTimeout)
	for {
		if content, err := os.ReadFile(file); err == nil {
			return a.read(file, content)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		case <-a.done:
			return a.failure("it ended before it was ready")
		case <-deadline:
			return a.failure("it was not ready after %s", readyTimeout)
		}
	}
}

// read takes in the ready file.
func (a *appliance) read(file string, content []byte) error {
	a.ready = time.Now()
	if info, err := os.Stat(file); err == nil && info.ModTime().Before(a.ready) {
		a.ready = info.ModTime() // closer than when we got to look
	}
	var told struct{ URL, CAFile string }
	if err := json.Unmarshal(content, &told); err != nil {
		return fmt.Errorf("the ready file: %w", err)
	}
	address, err := url.Parse(told.URL)
	if err != nil {
		return fmt.Errorf("the ready file: %w", err)
	}
	ca, err := os.ReadFile(told.CAFile)
	if err != nil {
		return err
	}
	a.server = target{address.Host, rootsOf(ca)}
	return nil
}

func rootsOf(pem []byte) *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	return pool
}
