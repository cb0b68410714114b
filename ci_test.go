package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// packageInStep is a package as a command names it.
var packageInStep = regexp.MustCompile(`(?:^|[\s=])\./([a-z][a-z0-9_/]*[a-z0-9])\b`)

// TestStepsNameWhatIsThere: a package that the steps name exists, or they would find out an
// hour later.
func TestStepsNameWhatIsThere(t *testing.T) {
	files, err := filepath.Glob(".ci/*")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // a folder
		}
		for _, m := range packageInStep.FindAllStringSubmatch(string(text), -1) {
			found++
			if _, err := os.Stat(m[1]); err != nil {
				t.Errorf("%s names ./%s: %v", file, m[1], err)
			}
		}
	}
	if found < 30 {
		t.Errorf("only %d packages are found in %d files", found, len(files))
	}
}
