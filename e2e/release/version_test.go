package release

import (
	"regexp"
	"strings"
	"testing"

	"teamdata/e2e/kit"
)

var newestRelease = regexp.MustCompile(`(?m)^## (\d+\.\d+\.\d+) \(`)

// newest is the newest release in CHANGELOG.md.
func newest(t *testing.T) string {
	t.Helper()
	found := newestRelease.FindStringSubmatch(kit.ReadText(t, "CHANGELOG.md"))
	if found == nil {
		t.Fatal("CHANGELOG.md has no release")
	}
	return found[1]
}

// The clients tell servers that they are of the newest release in CHANGELOG.md, and
// docs/install.md installs it.
func TestClientsRelease(t *testing.T) {
	version := newest(t)
	for file, want := range map[string]string{
		"client/transport.go":                          `userAgent = "teamdata-go/` + version + `"`,
		"contrib/clients/typescript/src/transport.ts":  `userAgent = "teamdata-typescript/` + version + `"`,
		"contrib/clients/typescript/package.json":      `"version": "` + version + `"`,
		"contrib/clients/typescript/package-lock.json": `"version": "` + version + `"`,
		"docs/install.md":                              "teamdata_v" + version + "_linux_amd64.tar.gz",
	} {
		if !strings.Contains(kit.ReadText(t, file), want) {
			t.Errorf("%s is not of the release %s: it has no %s", file, version, want)
		}
	}
}

// The Dockerfile builds with the Go version of releases.
func TestDockerfileGoVersion(t *testing.T) {
	version := strings.TrimPrefix(strings.TrimSpace(kit.ReadText(t, ".ci/go-version")), "go")
	if arg := "\nARG GO_IMAGE=golang:" + version + "-bookworm\n"; !strings.Contains(kit.ReadText(t, "Dockerfile"), arg) {
		t.Errorf("the Dockerfile does not build with Go %s", version)
	}
}
