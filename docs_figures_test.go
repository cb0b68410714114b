package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"teamdata/e2e/kit"
)

// notMeasured are words of a page that look like a measured figure, and what they are.
var notMeasured = map[string]map[string]string{
	"docs/admin-api.md": {
		"up to 670 deliveries a second":                     "a limit: replayStep in each replayEvery",
		"take up to 1,000 records in a body of up to 8 MiB": "a limit",
		"deliveries, counted up to 100,000":                 "a limit",
		"leased, both up to 100,000":                        "a limit",
		"a check ends after 100,000 steps":                  "a limit",
	},
	"docs/certificates.md":     {"takes longer than 25 seconds": "a limit"},
	"docs/clients.md":          {"after 0.5 s, 1 s, 2 s": "the schedule of retries"},
	"docs/endpoint-options.md": {"10/s": "a setting", "a number from 1 to 999,999": "a limit"},
	"docs/format.md": {
		`such as "10/s"`:                  "a setting",
		"up to 2.5 s":                     "a column of the histogram",
		"divided by 21,600,000 (6 hours)": "how a partition is numbered",
	},
	"docs/hardening.md": {
		"`--max-conns`, 10,000":  "a default",
		"`--memory-limit`, 75 %": "a default",
		"600,000 iterations":     "how passwords are hashed",
	},
	"docs/monitoring.md": {
		"takes longer than 2 seconds":     "a limit",
		"waiting delivery, up to 100,000": "a limit",
		"at the scrape, up to 100,000":    "a limit",
	},
	"docs/settings.md": {"`75%`": "a default"},
}

const (
	number = `(?:\d[\d,]*(?:\.\d+)?|half an?|some|a few|two|three|four|five|six|ten) `
	unit   = `(?:ns|µs|ms|s|(?:milli|micro)?seconds?|minutes?|hours?|bytes|[KMG]i?B|lines)\b`
)

var (
	// figure is what only a measurement can know, as far as its words tell: a rate, a share,
	// an amount that something took, a factor, an amount with decimals, a great number.
	figure = regexp.MustCompile(strings.Join([]string{
		`\d[\d,.]* (?:[\w-]+ ){0,3}(?:a|per|each) second\b`, `\d/s\b`, `[\d.]+ ?%`,
		`\b(?:took|takes?|adds?|added|costs?|counted|about)\b(?:[^.;:|]|\.\d){0,80}? ` + number + unit,
		`\b(?:used|need(?:s|ed)?|ready in) (?:\w+ ){0,2}` + number + unit, `\bunder an? ` + unit,
		`\b(?:\d+ times|twice|half) as `, `\b\d+ times (?:faster|slower|more|less)\b`,
		`\d\.\d+ ` + unit, `\b\d[\d,]* lines\b`, `\b\d{2,3},\d{3}\b`, `\b\d+(?:,\d{3}){2,}\b`,
	}, "|"))
	// proof is a command that prints a figure, or a test that holds the program to it. That
	// the test is there is for TestTestsInDocs to say.
	proof = regexp.MustCompile("go test \\./|go run \\. bench|teamdata bench|\\.ci/(?:run|prove|release)\\b|`(?:Test|Benchmark)[A-Z]\\w+[`/]")
	// lead begins a passage: a heading, or bold words that begin a paragraph, an item or a row.
	lead = regexp.MustCompile(`(?m)^(?:#|(?:- |\| )?\*\*)`)
)

// Beside each measured figure of a page, in the same passage, is the command that measures
// it or the test that holds the program to it.
func TestFiguresInDocs(t *testing.T) {
	found := 0
	for _, page := range kit.Pages(t) {
		if page == "CHANGELOG.md" { // which tells of releases that were
			continue
		}
		unused := map[string]bool{}
		for words := range notMeasured[page] {
			unused[words] = true
		}
		for _, passage := range passages(kit.ReadText(t, page)) {
			prose := strings.Join(strings.Fields(fenced.ReplaceAllString(passage, "")), " ")
			for words := range notMeasured[page] {
				if strings.Contains(prose, words) {
					delete(unused, words)
					prose = strings.ReplaceAll(prose, words, "")
				}
			}
			figures := figure.FindAllString(prose, -1)
			if found += len(figures); len(figures) > 0 && !proof.MatchString(passage) {
				t.Errorf("%s: nothing beside them says what measures %q: add the command or the test, or to notMeasured what they are", page, figures)
			}
		}
		for words := range unused {
			t.Errorf("%s has no %q", page, words)
		}
	}
	if found < 50 { // so the pattern still finds them
		t.Errorf("only %d figures were found", found)
	}
}

// passages are the parts of a page in each of which a figure and its proof belong together.
func passages(text string) (parts []string) {
	text = fenced.ReplaceAllStringFunc(text, func(block string) string { // where a # begins a comment
		return strings.ReplaceAll(block, "\n", "\n ")
	})
	from := 0
	for _, next := range lead.FindAllStringIndex(text, -1) {
		parts, from = append(parts, text[from:next[0]]), next[0]
	}
	return append(parts, text[from:])
}

var (
	goTest   = regexp.MustCompile("go test [^`\n]*")
	ofFolder = regexp.MustCompile(`\s\./([a-z][\w/]*)`)
	selects  = regexp.MustCompile(`-(run|bench) '?([\w|/=.^$()]+)`)
	declared = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w+)\(`)
)

// Each go test of a page selects a test or a benchmark of its folder.
func TestGoTestsInDocs(t *testing.T) {
	checked := 0
	for _, page := range kit.Pages(t) {
		for _, command := range goTest.FindAllString(kit.ReadText(t, page), -1) {
			folder := ofFolder.FindStringSubmatch(command)
			for _, flag := range selects.FindAllStringSubmatch(command, -1) {
				if folder == nil || flag[2] == "^$" {
					continue
				}
				checked++
				kind := map[string]string{"run": "Test", "bench": "Benchmark"}[flag[1]]
				top, _, _ := strings.Cut(flag[2], "/")
				if !anySelected(t, folder[1], kind, regexp.MustCompile(top)) {
					t.Errorf("%s: %q selects nothing in %s", page, flag[0], folder[1])
				}
			}
		}
	}
	if checked < 10 {
		t.Errorf("only %d were found", checked)
	}
}

// anySelected says whether a folder has a test or benchmark of such a name.
func anySelected(t *testing.T, folder, kind string, name *regexp.Regexp) bool {
	files, err := filepath.Glob(folder + "/*_test.go")
	kit.Must(t, err)
	for _, file := range files {
		for _, found := range declared.FindAllStringSubmatch(kit.ReadText(t, file), -1) {
			if strings.HasPrefix(found[1], kind) && name.MatchString(found[1]) {
				return true
			}
		}
	}
	return false
}
