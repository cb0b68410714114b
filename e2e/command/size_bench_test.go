package command

import (
	"debug/buildinfo"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// build builds the program as a release does, and returns the binary.
func build(b *testing.B, flags ...string) string {
	binary := filepath.Join(b.TempDir(), "teamdata")
	command := exec.Command("go", append(append([]string{"build", "-trimpath", "-o", binary}, flags...), ".")...)
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return binary
}

// BenchmarkSize is the resident memory of a server on an empty file that has been
// idle for a second, and the size of the stripped program.
func BenchmarkSize(b *testing.B) {
	if runtime.GOOS != "linux" {
		b.Skip("reads /proc")
	}
	stripped := build(b, "-ldflags", "-s -w")
	info, err := os.Stat(stripped)
	kit.Must(b, err)
	resident := 0
	for b.Loop() {
		p := program.Serve(b, filepath.Join(b.TempDir(), "teamdata.db"))
		time.Sleep(time.Second)
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Cmd.Process.Pid))
		kit.Must(b, err)
		_, line, _ := strings.Cut(string(status), "VmRSS:")
		if _, err := fmt.Sscan(line, &resident); err != nil {
			b.Fatal(err)
		}
		p.Kill()
	}
	b.ReportMetric(float64(resident)/1024, "resident-MiB")
	b.ReportMetric(float64(info.Size())/1e6, "binary-MB")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkModules is how much of the program has the name of each module that is linked:
// the code and data of its packages, in KB of 1,000 bytes.
func BenchmarkModules(b *testing.B) {
	if runtime.GOOS != "linux" {
		b.Skip("reads ELF")
	}
	binary := build(b)
	modules := linked(b, binary)
	sizes := map[string]uint64{}
	for b.Loop() {
		clear(sizes)
		program, err := elf.Open(binary)
		kit.Must(b, err)
		symbols, err := program.Symbols()
		kit.Must(b, err)
		for _, s := range symbols {
			if int(s.Section) >= len(program.Sections) || program.Sections[s.Section].Type == elf.SHT_NOBITS {
				continue // it takes no place in the file
			}
			name := strings.ReplaceAll(s.Name, "%2e", ".")
			for _, module := range modules {
				if strings.HasPrefix(name, module+"/") || strings.HasPrefix(name, module+".") {
					sizes[module] += s.Size
				}
			}
		}
		program.Close()
	}
	for module, size := range sizes {
		b.ReportMetric(float64(size)/1000, module+"-KB")
	}
	b.ReportMetric(0, "ns/op")
}

// linked are the paths of the modules that a program is made of, without this one.
func linked(t testing.TB, binary string) (paths []string) {
	info, err := buildinfo.ReadFile(binary)
	kit.Must(t, err)
	for _, module := range info.Deps {
		paths = append(paths, module.Path)
	}
	return paths
}

// The page of the architecture lists the modules that the program has and go.mod asks for.
func TestModulesOfArchitecture(t *testing.T) {
	var asked, listed []string
	for _, module := range linked(t, program.Binary(t)) {
		if regexp.MustCompile(`(?m)^\t` + regexp.QuoteMeta(module) + ` v\S+$`).MatchString(kit.ReadText(t, "go.mod")) {
			asked = append(asked, module)
		}
	}
	_, section, _ := strings.Cut(kit.ReadText(t, "docs/architecture.md"), "## The cost of a dependency")
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|.*\\| [\\d,]+ \\|$").FindAllStringSubmatch(section, -1) {
		listed = append(listed, row[1])
	}
	slices.Sort(listed)
	if !slices.Equal(asked, listed) {
		t.Errorf("the program has %v\nthe page lists %v", asked, listed)
	}
}
