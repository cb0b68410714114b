package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"teamdata/internal/testkit"
)

// The stories of testdata/scripts are command lines as a person would type them.
// They run the real program. Beside what testscript knows there is:
//
//	teamdata ARGS    runs it; with ! it must end with 1, the end of failed work
//	usage ARGS       runs it; it must end with 2, the end of a wrong command line
//	keep NAME        keeps what was printed last in the environment
//	serve [FLAGS]    serves teamdata.db; $URL and $CA are of that server
//	stop, kill9      end the server, as a service manager or a crash does
//	get PATH [KEY]   asks the API of that server with a key
//	page URL         asks that server for a page
//	await TEXT FILE  waits until a file holds a text
func scriptCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"teamdata": func(ts *testscript.TestScript, neg bool, args []string) { mustEnd(ts, args, exitOf(neg)) },
		"usage":    func(ts *testscript.TestScript, _ bool, args []string) { mustEnd(ts, args, exitUsage) },
		"keep":     func(ts *testscript.TestScript, _ bool, args []string) { keepOutput(ts, args[0]) },
		"serve":    func(ts *testscript.TestScript, _ bool, args []string) { storyOf(ts).serve(ts, args) },
		"stop":     func(ts *testscript.TestScript, _ bool, _ []string) { storyOf(ts).end(ts, syscall.SIGTERM) },
		"kill9":    func(ts *testscript.TestScript, _ bool, _ []string) { storyOf(ts).end(ts, syscall.SIGKILL) },
		"get":      func(ts *testscript.TestScript, _ bool, args []string) { get(ts, args) },
		"page":     func(ts *testscript.TestScript, _ bool, args []string) { answered(ts, args[0], nil) },
		"await":    func(ts *testscript.TestScript, _ bool, args []string) { awaitText(ts, args[0], args[1]) },
	}
}

func exitOf(neg bool) int {
	if neg {
		return exitFailed
	}
	return 0
}

// story is a script on its way.
type story struct {
	server     *exec.Cmd
	out        *testkit.Output
	transcript strings.Builder // what the commands printed
}

func storyOf(ts *testscript.TestScript) *story { return ts.Value("story").(*story) }

// setUp prepares a script: its environment holds nothing of ours.
func setUp(env *testscript.Env) *story {
	s := &story{}
	env.Values["story"] = s
	env.Setenv("PATH", filepath.Dir(testkit.Binary)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	env.Setenv("HOME", env.WorkDir)
	env.Defer(func() {
		if s.server != nil {
			s.server.Process.Kill()
			s.server.Wait()
		}
	})
	return s
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "cli/testdata/scripts", Cmds: scriptCommands(),
		Setup: func(env *testscript.Env) error { setUp(env); return nil },
	})
}

// What the commands print and how they end is the same whether a server runs or
// not.
func TestScriptsWithAndWithoutServer(t *testing.T) {
	var mu sync.Mutex
	transcripts := map[bool]map[string]string{true: {}, false: {}}
	for _, served := range []bool{true, false} {
		name := map[bool]string{true: "served", false: "not served"}[served]
		t.Run(name, func(t *testing.T) {
			testscript.Run(t, testscript.Params{
				Dir: "cli/testdata/scripts/both", Cmds: bothCommands(served),
				Setup: func(env *testscript.Env) error {
					s := setUp(env)
					env.Defer(func() {
						mu.Lock()
						defer mu.Unlock()
						transcripts[served][filepath.Base(env.WorkDir)] = alike(s.transcript.String())
					})
					return nil
				},
			})
		})
	}
	for script, with := range transcripts[true] {
		if without := transcripts[false][script]; with != without {
			t.Errorf("%s: with a server it printed\n%s\n, and without one\n%s", script, with, without)
		}
	}
}

// bothCommands are those of a script that runs with a server and without: the
// line `serve` begins it.
func bothCommands(served bool) map[string]func(*testscript.TestScript, bool, []string) {
	commands := scriptCommands()
	if !served {
		commands["serve"] = func(*testscript.TestScript, bool, []string) {}
	}
	return commands
}

// alike leaves out what differs from run to run: times, ids, secrets.
func alike(text string) string {
	for pattern, name := range map[string]string{
		`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`: "TIME",
		`_[0-9A-HJKMNP-TV-Z]{26}`:                "_ID",
		`\.[0-9A-Za-z]{49}`:                      ".SECRET",
		`whsec_[0-9A-Za-z+/=]+`:                  "WHSEC",
	} {
		text = regexp.MustCompile(pattern).ReplaceAllString(text, name)
	}
	return text
}
