package power_test

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// recording is what runs of the program did to the files of a folder, call by call
// as strace saw it. The program writes with calls alone: it maps files to read them.
type recording struct {
	t      *testing.T
	folder string
	traces []trace
}

// trace is the record of one run.
type trace struct{ phase, file string }

// recordedCalls are those that change files or bring them to the disk, and those
// that the others can't be understood without.
const recordedCalls = "openat,lseek,write,writev,pwrite64,pwritev,pwritev2,copy_file_range,sendfile,splice,ftruncate,fallocate," +
	"fsync,fdatasync,syncfs,link,linkat,rename,renameat,renameat2,unlink,unlinkat"

func newRecording(t *testing.T) *recording {
	t.Helper()
	if out, err := exec.Command("strace", "-f", "-o", os.DevNull, program.Binary(t), "version").CombinedOutput(); err != nil {
		kit.MustSkip(t, fmt.Sprintf("strace does not trace: %v\n%s", err, out))
	}
	return &recording{t: t, folder: t.TempDir()}
}

func (r *recording) path(name string) string { return filepath.Join(r.folder, name) }

// command is a run of the program that is recorded. The tracer is its grandchild, so
// that signals reach the program. It holds up each sync for a while, as a disk that is
// busy does, for what happens meanwhile.
func (r *recording) command(phase string, args ...string) *exec.Cmd {
	file := filepath.Join(r.t.TempDir(), "strace")
	r.traces = append(r.traces, trace{phase, file})
	return exec.Command("strace", append([]string{
		"-D", "-f", "--seccomp-bpf", "-o", file, "-e", "signal=none", "-e", "trace=" + recordedCalls, "-e", "inject=fdatasync:delay_enter=2000",
		"-y", "-xx", "-s", "16777216", "--absolute-timestamps=format:unix,precision:ns", "--syscall-times=ns", program.Binary(r.t),
	}, args...)...)
}

// run records a command to its end, which is a success, and says when it began and
// had ended.
func (r *recording) run(phase string, args ...string) (began, ended time.Time) {
	r.t.Helper()
	began = time.Now()
	if out, err := r.command(phase, args...).CombinedOutput(); err != nil {
		r.t.Fatalf("teamdata %v: %v\n%s", args, err, out)
	}
	return began, time.Now()
}

// serve records a server on the folder's data file.
func (r *recording) serve(phase string, flags ...string) *program.Process {
	r.t.Helper()
	return program.BeginServing(r.t, r.command(phase, append([]string{"serve", "--data", r.path(dataName), "--http", "--listen", "127.0.0.1:0"}, flags...)...))
}

// call is one system call; of a call that took a while others may lie between its
// begin and its end.
type call struct {
	trace      trace
	begin, end time.Time
	name       string
	args       []string
	result     string
}

// calls are those of all runs, in the order in which they took effect: what writes
// may have, from its begin, and the others have at their end.
func (r *recording) calls() (calls []call) {
	for _, one := range r.traces {
		calls = append(calls, one.read(r.t)...)
	}
	slices.SortStableFunc(calls, func(a, b call) int { return a.effect().Compare(b.effect()) })
	return calls
}

func (c *call) effect() time.Time {
	switch c.name {
	case "write", "pwrite64", "ftruncate", "fsync", "fdatasync":
		return c.begin
	}
	return c.end
}

func (tr trace) read(t *testing.T) (calls []call) {
	t.Helper()
	file, err := os.Open(tr.file)
	kit.Must(t, err)
	defer file.Close()
	unfinished := map[string]string{} // by thread: when it began, and the line so far
	lines := bufio.NewReaderSize(file, 1<<20)
	ended := false
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			break
		}
		thread, line, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		line = strings.TrimLeft(line, " ")
		began, _, _ := strings.Cut(line, " ")
		said := line[len(began)+1:]
		if start, is := strings.CutSuffix(said, "<unfinished ...>"); is {
			unfinished[thread] = began + " " + strings.TrimRight(start, " ")
			continue
		}
		if _, rest, is := strings.Cut(said, " resumed>"); is && strings.HasPrefix(said, "<... ") {
			line = unfinished[thread] + rest
		}
		if ended = strings.HasPrefix(said, "+++"); !ended {
			calls = append(calls, tr.parse(t, line))
		}
	}
	if !ended {
		t.Fatalf("the record of %s breaks off", tr.phase)
	}
	return calls
}

// parse reads a line such as: 1795348327.062934106 fsync(8<\x2f\x74>) = 0 <0.000253>
func (tr trace) parse(t *testing.T, line string) call {
	t.Helper()
	began, line, _ := strings.Cut(line, " ")
	name, rest, _ := strings.Cut(line, "(")
	equals := strings.LastIndex(rest, "= ")
	took := strings.LastIndex(rest, " <")
	if equals < 0 || strings.Contains(line, `"...`) {
		t.Fatalf("strace says %.200s", line)
	}
	c := call{trace: tr, name: name, result: rest[equals+2:]}
	c.args = strings.Split(strings.TrimSuffix(strings.TrimRight(rest[:equals], " "), ")"), ", ")
	seconds, nanoseconds, _ := strings.Cut(began, ".")
	c.begin = time.Unix(number(seconds), number(nanoseconds))
	c.end = c.begin
	if took > equals {
		c.result = rest[equals+2 : took]
		d, err := time.ParseDuration(strings.Trim(rest[took+1:], "<>") + "s")
		kit.Must(t, err)
		c.end = c.begin.Add(d)
	}
	return c
}

func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

// failed reports whether the call changed nothing; "?" is one that the end of the
// process broke off.
func (c *call) failed() bool {
	return strings.HasPrefix(c.result, "-1") || strings.HasPrefix(c.result, "?")
}

// text is an argument that is a text.
func (c *call) text(i int) string {
	content, err := hex.DecodeString(strings.ReplaceAll(strings.Trim(c.args[i], `"`), `\x`, ""))
	if err != nil {
		panic(c.args[i])
	}
	return string(content)
}

// numberOf is the number of an open file.
func numberOf(arg string) string {
	number, _, _ := strings.Cut(arg, "<")
	return number
}

// nameOf is the name that an open file had then.
func nameOf(arg string) string {
	_, name, _ := strings.Cut(arg, "<")
	name, _, _ = strings.Cut(name, ">")
	content, _ := hex.DecodeString(strings.ReplaceAll(name, `\x`, ""))
	return string(content)
}
