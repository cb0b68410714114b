package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"teamdata/e2e/kit"
)

// A seed may come from a pipe as well, such as a shell's <(…).
func TestSeedFromAPipe(t *testing.T) {
	content := []byte(strings.Repeat(`{"orgs": []} `, 1000))
	read, write, err := os.Pipe()
	kit.Must(t, err)
	go func() {
		write.Write(content)
		write.Close()
	}()
	defer read.Close()
	file, err := openInput(context.Background(), fmt.Sprintf("/dev/fd/%d", read.Fd()), file(filepath.Join(t.TempDir(), "a.db")))
	kit.Must(t, err)
	defer file.Close()
	spooled := make([]byte, len(content)+1)
	if n, _ := file.ReadAt(spooled, 0); string(spooled[:n]) != string(content) {
		t.Errorf("%d bytes were spooled", n)
	}
}
