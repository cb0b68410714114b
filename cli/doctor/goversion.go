package doctor

import (
	"context"
	"go/version"
	"runtime"
	"strings"
)

// safeGo are the first patches, of each release of Go that may build the program, without a
// vulnerability that is known in what it calls: .ci/vulnerabilities says which. go.mod asks
// for an older one, so that a Go that a system has builds it at all.
var safeGo = []string{"go1.26.10", "go1.27.3"}

// SaferGo is the Go that a program should be built with that was built with another one, in
// which vulnerabilities are known; empty: none are known, or the other one is no release.
func SaferGo(built string) string {
	built, _, _ = strings.Cut(built, " ") // of experiments
	if !version.IsValid(built) {
		return ""
	}
	for _, safe := range safeGo {
		if version.Compare(version.Lang(built), version.Lang(safe)) <= 0 {
			if version.Compare(built, safe) < 0 {
				return safe
			}
			return ""
		}
	}
	return ""
}

// GoAdvice is what to do about it.
func GoAdvice(safer string) string { return "build teamdata with " + safer + " or newer" }

// checkGo reports the Go that this program was built with.
func (d *doctor) checkGo(context.Context) {
	if safer := SaferGo(runtime.Version()); safer != "" {
		d.warn(GoAdvice(safer), "%s, in which vulnerabilities are known", runtime.Version())
		return
	}
	d.ok("%s", runtime.Version())
}
