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

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/e2e/kit/program"
)

// The stories of testdata/scripts are command lines as a person would type them.
// They run the real program. Beside what testscript knows there is:
//
//	teamdata ARGS    runs it; with ! it must end with 1, the end of failed work
//	usage ARGS       runs it; it must end with 2, the end of a wrong command line
//	keep NAME        keeps what was printed last in the environment
//	serve [FLAGS]    serves teamdata.db, or $TEAMDATA_DATA; $URL and $CA are of that server
//	stop, kill9      end the server, as a service manager or a crash does
//	get PATH [KEY]   asks the API of that server with a key
//	page URL         asks that server for a page
//	await TEXT FILE  waits until a file holds a text
//	tear FILE N      cuts the last bytes of a file, or with a negative N adds NULs
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
		"tear":     func(ts *testscript.TestScript, _ bool, args []string) { tear(ts, args[0], args[1]) },
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
	binary     string
	server     *exec.Cmd
	out        *kit.Output
	transcript strings.Builder // what the commands printed
}

func storyOf(ts *testscript.TestScript) *story { return ts.Value("story").(*story) }

// setUp prepares a script: its environment holds nothing of ours.
func setUp(t *testing.T, env *testscript.Env) *story {
	s := &story{binary: program.Binary(t)}
	env.Values["story"] = s
	env.Setenv("PATH", filepath.Dir(s.binary)+string(filepath.ListSeparator)+os.Getenv("PATH"))
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
		Setup: func(env *testscript.Env) error { setUp(t, env); return nil },
	})
}

// The stories that name no file go the same way on a database, and some need one.
func TestScriptsOnDatabase(t *testing.T) {
	var files []string
	for _, name := range []string{"keyuse", "listen", "remote", "signinlink", "testclock", "database/migrate"} {
		files = append(files, "cli/testdata/scripts/"+name+".txtar")
	}
	testscript.Run(t, testscript.Params{
		Files: files, Cmds: scriptCommands(),
		Setup: func(env *testscript.Env) error {
			setUp(t, env)
			env.Setenv("TEAMDATA_DATA", postgres.New(t))
			return nil
		},
	})
}

// What the commands print and how they end is the same whether a server runs or
// not, and, with -size, whether the data is a file or a database.
func TestScriptsWithAndWithoutServer(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	const first = "file, served"
	transcripts := map[string]map[string]string{}
	type way struct {
		name             string
		served, database bool
	}
	ways := []way{{first, true, false}, {"file, not served", false, false}}
	if kit.AtSize() {
		ways = append(ways, way{"database, not served", false, true}, way{"database, served", true, true})
	}
	for _, way := range ways {
		transcripts[way.name] = map[string]string{}
		t.Run(way.name, func(t *testing.T) {
			testscript.Run(t, testscript.Params{
				Dir: "cli/testdata/scripts/both", Cmds: bothCommands(way.served),
				Setup: func(env *testscript.Env) error {
					s := setUp(t, env)
					if way.database {
						env.Setenv("TEAMDATA_DATA", postgres.New(t))
					}
					env.Defer(func() {
						mu.Lock()
						defer mu.Unlock()
						transcripts[way.name][filepath.Base(env.WorkDir)] = alike(s.transcript.String())
					})
					return nil
				},
			})
		})
	}
	for way, printed := range transcripts {
		for script, text := range printed {
			if want, ran := transcripts[first][script]; ran && text != want {
				t.Errorf("%s: %s it printed\n%s\n, and %s\n%s", script, first, want, way, text)
			}
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
