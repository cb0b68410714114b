package main

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// schema2File is a data file that an older teamdata wrote.
func schema2File(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "teamdata.db")
	zipped, err := os.Open("store/boltstore/testdata/schema2.db.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer zipped.Close()
	r, err := gzip.NewReader(zipped)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, string(content))
	return path
}

// An upgrade that changes the schema tells once where the copy is, and restore
// puts that back for the teamdata before.
func TestUpgradeKeepsACopy(t *testing.T) {
	data := schema2File(t)
	const told = `"fromSchema":2,"copy":"`
	for start, want := range []int{1, 0} {
		p := serveProcess(t, data)
		if err := p.stop(); err != nil || strings.Count(p.out.String(), told+data+".schema-2-") != want {
			t.Errorf("at start %d: %v\n%s", start+1, err, p.out)
		}
	}
	kept, _ := filepath.Glob(data + ".schema-2-*Z")
	if len(kept) != 1 {
		t.Fatalf("there are kept %v", kept)
	}
	if out, err := run(t, "restore", kept[0], "--data", data, "--yes"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := run(t, "org", "list", "--data", data); err != nil || !strings.Contains(out, "org_acme") || strings.Count(out, kept[0][:len(kept[0])-len("20261121T120000Z")]) != 1 {
		t.Errorf("on the file put back, the command says: %v\n%s", err, out)
	}
}
