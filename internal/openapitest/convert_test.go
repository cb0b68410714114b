package openapitest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"teamdata/internal/openapitest"
)

func TestHoldJSON(t *testing.T) {
	source := filepath.Join(t.TempDir(), "a.yaml")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(source, "x-anchors:\n  both: &both {z: 1, a: <b>}\nlist: &list [\"1\", 2.5, true, null]\nmerged:\n  first: *list\n  <<: *both\n  last: 2026\n")
	const want = `{"list":["1",2.5,true,null],"merged":{"first":["1",2.5,true,null],"z":1,"a":"<b>","last":2026}}`
	l := &listener{TB: t}
	write(strings.TrimSuffix(source, ".yaml")+".json", "{}")
	openapitest.HoldJSON(l, source)
	if len(l.heard) != 1 || !strings.Contains(l.heard[0], "-update") {
		t.Errorf("heard %q", l.heard)
	}
	*openapitest.Update = true
	defer func() { *openapitest.Update = false }()
	openapitest.HoldJSON(l, source)
	made, err := os.ReadFile(strings.TrimSuffix(source, ".yaml") + ".json")
	if got := strings.Map(withoutSpace, string(made)); err != nil || got != want || len(l.heard) != 1 {
		t.Errorf("got  %s\nwant %s\n%v, heard %q", got, want, err, l.heard)
	}
}

func withoutSpace(r rune) rune {
	if r == ' ' || r == '\n' {
		return -1
	}
	return r
}
