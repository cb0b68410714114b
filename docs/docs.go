// Package docs holds the documentation, which the program itself shows: all pages as the
// guides of a server, and the samples of webhook-samples.md and pull.md where an endpoint is
// set up, so that a page and the documentation can't differ. It imports nothing of the module.
package docs

import (
	"embed"
	"regexp"
	"slices"
	"strings"
	"sync"
)

//go:embed *.md
var files embed.FS

// Path is where every server shows the start page; the others are below it.
const Path = "/docs/guide"

const start = "start" // the page that comes first and leads to all others

// Page is a page of the documentation.
type Page struct {
	Name  string // of its file, without .md
	Title string // its heading
	Text  string // all of it, in Markdown
}

// Path returns the page's path on every server.
func (p Page) Path() string {
	if p.Name == start {
		return Path
	}
	return Path + "/" + p.Name
}

var linkedPage = regexp.MustCompile(`\]\(([\w-]+)\.md[)#]`)

// Pages are all pages: the start page, then the others in the order of its links. Nobody
// changes them.
var Pages = sync.OnceValue(func() []Page {
	names := []string{start}
	for _, found := range linkedPage.FindAllStringSubmatch(read(start), -1) {
		names = append(names, found[1])
	}
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err)
	}
	for _, entry := range entries {
		names = append(names, strings.TrimSuffix(entry.Name(), ".md"))
	}
	var pages []Page
	for _, name := range names {
		if !slices.ContainsFunc(pages, func(p Page) bool { return p.Name == name }) {
			text := read(name)
			title, _, _ := strings.Cut(strings.TrimPrefix(text, "# "), "\n")
			pages = append(pages, Page{name, title, text})
		}
	}
	return pages
})

// read returns the text of a page, all of which are part of the program.
func read(name string) string {
	text, err := files.ReadFile(name + ".md")
	if err != nil {
		panic(err)
	}
	return string(text)
}

// Sample is a program of webhook-samples.md that verifies a request, or one of pull.md that
// pulls.
type Sample struct {
	Language string // its name for people, such as Python
	ID       string // in lower case, of letters only, such as python
	Code     string
}

var verifyFunction = regexp.MustCompile(`(?m)^(?:func|function|def) verify\(.*\n(?:(?:[ \t].*)?\n)*(?:\}|end)?`)

// Verify is the sample's function verify; empty: the sample has none.
func (s Sample) Verify() string { return strings.TrimSpace(verifyFunction.FindString(s.Code)) }

// languages are the names of those that there are samples in, by what follows the fence
// of a block of code.
var languages = map[string]string{"go": "Go", "js": "Node", "python": "Python", "ruby": "Ruby", "sh": "Shell"}

// Samples are the first sample of each language, in the order of the page. Nobody
// changes them.
var Samples = sync.OnceValue(func() (samples []Sample) {
	sampleBlock := regexp.MustCompile("(?ms)^```(\\w+) (?:library|standard|openssl)\n(.*?)^```$")
	for _, found := range sampleBlock.FindAllStringSubmatch(read("webhook-samples"), -1) {
		if !slices.ContainsFunc(samples, func(s Sample) bool { return s.ID == found[1] }) {
			samples = append(samples, Sample{Language: languages[found[1]], ID: found[1], Code: found[2]})
		}
	}
	return samples
})

// PullURL is the address that the samples of PullSamples pull from.
const PullURL = "https://data.example.com/pull/whe_ID"

// PullSamples are the samples of pull.md, in its order. Nobody changes them.
var PullSamples = sync.OnceValue(func() (samples []Sample) {
	named := map[string]Sample{ // by the fence of a block of code
		"sh pull": {Language: "curl", ID: "sh"}, "go pull": {Language: "Go", ID: "go"}, "ts pull": {Language: "Node", ID: "ts"},
		"python pull": {Language: "Python", ID: "python"}, "sh listen": {Language: "listen", ID: "listen"},
	}
	pullBlock := regexp.MustCompile("(?ms)^```(\\w+) (pull|listen)\n(.*?)^```$")
	for _, found := range pullBlock.FindAllStringSubmatch(read("pull"), -1) {
		s := named[found[1]+" "+found[2]]
		s.Code = found[3]
		samples = append(samples, s)
	}
	return samples
})
