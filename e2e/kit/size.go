package kit

import (
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// size is in percent of what is promised.
var size = flag.Int("size", 0, "run at this size, in percent of what docs/reliability.md promises; 0 is the size of every day")

// Size is how large a test is: a size for every day, or with -size as much of the full one
// as it says, but not less than every day.
func Size(day, full int) int { return max(day, full**size/100) }

// AtSize reports whether -size is given.
func AtSize() bool { return *size > 0 }

// OnlyAtSize skips a test that takes too much for every day, unless -size is given, as in
// the step of .ci/steps that runs it.
func OnlyAtSize(t testing.TB) {
	t.Helper()
	if AtSize() {
		return
	}
	Must(t, stepRuns(t.Name()))
	t.Skip("it runs with -args -size 100, as in .ci/steps")
}

// EveryDay reports whether a test can be smaller than its full size: neither -size is given nor
// the race detector on, as it is in the step of .ci/steps that runs all tests.
func EveryDay() bool { return !AtSize() && !Raced }

// NotEveryDay skips a test that takes too much for every day, if [EveryDay] says that this is one.
func NotEveryDay(t testing.TB) {
	t.Helper()
	if EveryDay() {
		t.Skip("it runs with -race, as in .ci/run")
	}
}

// stepRuns reports why no step of .ci/steps runs a test of the package under test at a size.
func stepRuns(test string) error {
	root, err := Root()
	if err != nil {
		return err
	}
	steps, err := os.ReadFile(filepath.Join(root, ".ci/steps"))
	if err != nil {
		return err
	}
	here, err := packageFolder(root)
	if err != nil {
		return err
	}
	name, _, _ := strings.Cut(test, "/")
	for line := range strings.Lines(string(steps)) {
		if runs(line, here, name) {
			return nil
		}
	}
	return fmt.Errorf("no step of .ci/steps runs %s of %s with -size", name, here)
}

var (
	stepPackage = regexp.MustCompile(`\./[\w./-]+`)
	stepRun     = regexp.MustCompile(`-run ('[^']*'|\S+)`)
)

// runs reports whether a line of .ci/steps runs a test of a package, "./app", with -size.
func runs(line, here, test string) bool {
	_, command, _ := strings.Cut(line, "go test")
	pattern := stepRun.FindStringSubmatch(command)
	if strings.HasPrefix(line, "#") || pattern == nil || !strings.Contains(command, "-size") {
		return false
	}
	named, err := regexp.Compile(strings.Trim(pattern[1], "'"))
	if err != nil || !named.MatchString(test) {
		return false
	}
	for _, folder := range stepPackage.FindAllString(command, -1) {
		if below, all := strings.CutSuffix(folder, "/..."); folder == here || all && strings.HasPrefix(here+"/", below+"/") {
			return true
		}
	}
	return false
}

// packageFolder is that of the package under test, such as "./app".
func packageFolder(root string) (string, error) {
	relative, err := filepath.Rel(root, startFolder)
	return "./" + filepath.ToSlash(relative), err
}

// startFolder is where the test process began: `go test` starts it in its package.
var startFolder, _ = os.Getwd()

// Root is the folder of go.mod.
func Root() (string, error) {
	path, err := exec.Command("go", "env", "GOMOD").Output()
	return filepath.Dir(string(path)), err
}

// MustSkip skips a test that needs something which is not on this machine. In
// CI everything is there, so that a skip is a failure.
func MustSkip(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal("in CI this can't be skipped: " + why)
	}
	t.Skip(why)
}

// MostlyWait lets six parallel tests of a package run at once on few processors, too, unless
// the command line says how many. It is called before flags are parsed.
func MostlyWait() {
	if runtime.GOMAXPROCS(0) < 6 {
		flag.Set("test.parallel", "6")
	}
}

// Seed is what a random test draws from: SEED in the environment, or another one each time.
// The test says how to repeat it.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed, given := seedGiven(t)
	if !given {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("run it again with SEED=%d", seed)
	h := fnv.New64a() // so that tests with one SEED don't draw the same
	fmt.Fprintf(h, "%d %s", seed, t.Name())
	return h.Sum64()
}

// seedGiven is SEED in the environment, if it is there.
func seedGiven(t testing.TB) (seed uint64, given bool) {
	t.Helper()
	text := os.Getenv("SEED")
	if text == "" {
		return 0, false
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("SEED is no number: %v", err)
	}
	return seed, true
}

// Random draws from [Seed].
func Random(t testing.TB) *rand.Rand {
	seed := Seed(t)
	return rand.New(rand.NewPCG(seed, seed))
}
