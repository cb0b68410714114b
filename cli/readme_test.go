package cli

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"teamdata/internal/testkit"
	"testing"
	"time"
)

// The README's install, exactly as one would paste it.
func TestReadmeInstall(t *testing.T) {
	text := testkit.ReadText(t, "README.md")
	_, section, found := strings.Cut(text, "## A real install in five minutes")
	block := regexp.MustCompile("(?s)```sh\n(.*?)```").FindStringSubmatch(section)
	if !found || block == nil {
		t.Fatal("the README has no script in its section \"A real install in five minutes\"")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", block[1])
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"verified", "member.added", "usr_bob", `"data":[{"id":"mem_`, "the same answers"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("it printed no %q:\n%s", want, out)
		}
	}
}
