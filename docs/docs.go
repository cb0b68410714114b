// Package docs holds the documentation, of which the program itself shows a part: the
// samples of webhooks.md, so that a page and the documentation can't differ. It imports
// nothing of the module.
package docs

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
)

//go:embed webhooks.md
var webhooks string

// Sample is a program of webhooks.md that verifies a request.
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

var sampleBlock = regexp.MustCompile("(?ms)^```(\\w+) (?:library|standard|openssl)\n(.*?)^```$")

// Samples are the first sample of each language, in the order of the page. Nobody
// changes them.
var Samples = sync.OnceValue(func() (samples []Sample) {
	for _, found := range sampleBlock.FindAllStringSubmatch(webhooks, -1) {
		if !slices.ContainsFunc(samples, func(s Sample) bool { return s.ID == found[1] }) {
			samples = append(samples, Sample{Language: languages[found[1]], ID: found[1], Code: found[2]})
		}
	}
	return samples
})
