//go:build unix

package seal

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestKeyFileIsNoPipe: nobody waits for what a pipe may never say.
func TestKeyFileIsNoPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	refused := make(chan error, 1)
	go func() {
		_, err := ReadKeyFile(pipe)
		refused <- err
	}()
	select {
	case err := <-refused:
		if err == nil || !strings.Contains(err.Error(), pipe+" is a pipe; write the key into a file") {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it still waits")
	}
}

// TestKeyOfZeros: a file that was only made room for is no key.
func TestKeyOfZeros(t *testing.T) {
	for _, text := range []string{strings.Repeat("00", KeySize), strings.Repeat("A", 43) + "="} {
		if _, err := ReadKeyFile(keyFile(t, text)); err == nil || !strings.Contains(err.Error(), "only zeros") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
