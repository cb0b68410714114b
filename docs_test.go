package main

import (
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"teamdata/e2e/kit"
)

var (
	fenced  = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	inCode  = regexp.MustCompile("`[^`\n]+`")
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	// ofCommits are the rows of tables that name files as they are in a commit.
	ofCommits = regexp.MustCompile("(?m)^\\|.*\\| `[0-9a-f]{7}` \\|.*$")
	namedURL  = regexp.MustCompile(`\bhttps?://[^\s)>"'` + "`" + `]+`)
)

// Every relative link in the docs leads somewhere, and every file or folder of this
// repository that they name is there. No link is followed to another machine: those are
// HTTPS to a name.
func TestLinksInDocs(t *testing.T) {
	top, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var folders []string
	for _, entry := range top {
		if entry.IsDir() {
			folders = append(folders, regexp.QuoteMeta(entry.Name()))
		}
	}
	named := regexp.MustCompile(`(?:^|[^\w/.-])((?:\./)?(?:` + strings.Join(folders, "|") + `)/[\w./-]*[\w/])`)
	links := 0
	for _, page := range kit.Pages(t) {
		text := kit.ReadText(t, page)
		prose := inCode.ReplaceAllString(fenced.ReplaceAllString(text, ""), "")
		for _, found := range link.FindAllStringSubmatch(prose, -1) {
			checkLink(t, page, found[1])
			links++
		}
		for _, found := range namedURL.FindAllString(prose, -1) {
			if u, err := url.Parse(found); err != nil || u.Scheme != "https" || !strings.Contains(u.Host, ".") || u.User != nil {
				t.Errorf("%s names %s, which is not the address of a page", page, found)
			}
		}
		for _, found := range named.FindAllStringSubmatch(ofCommits.ReplaceAllString(text, ""), -1) {
			if _, err := os.Stat(found[1]); err != nil {
				t.Errorf("%s names %s: %v", page, found[1], err)
			}
		}
	}
	if links < 100 { // so the pattern still finds them
		t.Errorf("only %d links were found", links)
	}
}

// The README, the help and the image say in the same sentence what the program is for. What
// a package manager and systemd show has room for its beginning.
func TestPurpose(t *testing.T) {
	words := func(file string) string { return strings.Join(strings.Fields(kit.ReadText(t, file)), " ") }
	_, purpose, _ := strings.Cut(words("README.md"), "# teamdata The ")
	purpose, _, _ = strings.Cut(purpose, ".")
	begins, _, _ := strings.Cut(purpose, ", or ")
	for file, want := range map[string]string{
		"cli/help.go":                      "`The " + purpose + ".",
		"Dockerfile":                       `LABEL org.opencontainers.image.description="The ` + purpose + `" `,
		"contrib/package/nfpm.yaml":        "description: |- " + begins + " ",
		"contrib/systemd/teamdata.service": "Description=teamdata, " + begins + " ",
	} {
		if len(begins) < 40 || !strings.Contains(words(file), want) {
			t.Errorf("%s doesn't say %s", file, want)
		}
	}
}

// checkLink looks for the file of a relative link, and for the heading behind its #.
func checkLink(t *testing.T, page, target string) {
	t.Helper()
	if strings.Contains(target, "://") {
		return
	}
	file, anchor, _ := strings.Cut(target, "#")
	if file = path.Join(path.Dir(page), file); strings.HasPrefix(target, "#") {
		file = page
	}
	if _, err := os.Stat(file); err != nil {
		t.Errorf("%s links to %s: %v", page, target, err)
		return
	}
	if anchor != "" && !slices.Contains(anchors(kit.ReadText(t, file)), anchor) {
		t.Errorf("%s links to %s, and there is no such heading", page, target)
	}
}

// anchors are what a page's headings are linked by. Of several that are the same, those
// after the first have a number.
func anchors(text string) (anchors []string) {
	for _, found := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		words := regexp.MustCompile(`[^\w -]`).ReplaceAllString(strings.ToLower(found[1]), "")
		anchor := strings.ReplaceAll(words, " ", "-")
		for n := 1; slices.Contains(anchors, anchor); n++ {
			anchor = strings.ReplaceAll(words, " ", "-") + "-" + strconv.Itoa(n)
		}
		anchors = append(anchors, anchor)
	}
	return anchors
}

// Every test that the docs name as a proof is there. The lists of bugs name tests as of
// the commit that stands beside them.
func TestTestsInDocs(t *testing.T) {
	defined := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w+)\(`)
	err := filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(file, "_test.go") {
			for _, found := range declared.FindAllStringSubmatch(kit.ReadText(t, file), -1) {
				defined[found[1]] = true
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	ofACommit, named, checked := regexp.MustCompile("\\| `[0-9a-f]{7}` \\|"), regexp.MustCompile("`((?:Test|Fuzz|Benchmark)[A-Z]\\w+)[`/]"), 0
	for _, page := range kit.Pages(t) {
		for line := range strings.Lines(kit.ReadText(t, page)) {
			if ofACommit.MatchString(line) {
				continue
			}
			for _, found := range named.FindAllStringSubmatch(line, -1) {
				checked++
				if !defined[found[1]] {
					t.Errorf("%s names %s, and there is no such test", page, found[1])
				}
			}
		}
	}
	if checked < 50 {
		t.Errorf("only %d tests were found", checked)
	}
}

// mostWords is how long a page may be that is read from its beginning to its end.
const mostWords = 2600

// references are pages in which one looks something up.
var references = []string{
	"docs/admin-api.md", "docs/architecture.md", "docs/bugs.md", "docs/format.md", "docs/settings.md",
}

// No page of the documentation is too long, and the start page leads to each.
func TestPagesInDocs(t *testing.T) {
	start := kit.ReadText(t, "docs/start.md")
	for _, page := range kit.Pages(t) {
		folder, name := path.Split(page)
		if folder != "docs/" {
			continue
		}
		text := kit.ReadText(t, page)
		if words := len(strings.Fields(text)); words > mostWords && !slices.Contains(references, page) {
			t.Errorf("%s has %d words, more than %d", page, words, mostWords)
		}
		if name != "start.md" && !strings.Contains(start, "]("+name+")") {
			t.Errorf("docs/start.md has no link to %s", name)
		}
	}
}

// docs/architecture.md says of every package what it is for.
func TestPackagesInDocs(t *testing.T) {
	text := kit.ReadText(t, "docs/architecture.md")
	for folder := range mayImport {
		if folder != "." && !strings.Contains(text, "`"+folder+"`") && !strings.Contains(text, "`"+folder+"/`") {
			t.Errorf("docs/architecture.md does not name the package %s", folder)
		}
	}
}
