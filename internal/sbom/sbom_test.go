package sbom

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"os/exec"
	"reflect"
	"strings"
	"testing"
)

// readProgram is the content of this module's program, as `go run` has linked it.
func readProgram(t *testing.T) []byte {
	t.Helper()
	content, err := exec.Command("go", "run", "-exec", "cat", "../..").Output()
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// What is read from a binary is what the Go toolchain reads from it.
func TestBuildInfo(t *testing.T) {
	content := readProgram(t)
	want, err := buildinfo.Read(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	got, err := buildInfo(content)
	if err != nil || !reflect.DeepEqual(got, want) || len(got.Deps) < 10 {
		t.Errorf("%v\n%v\ninstead of\n%v", err, got, want)
	}
}

// Content that is no binary, or has lost its end, is an error.
func TestNotABinary(t *testing.T) {
	content := readProgram(t)
	record := bytes.Index(content, []byte(recordStart+"\x08\x02"))
	for name, content := range map[string][]byte{
		"nothing": nil, "text": []byte("text"), "a start": []byte(recordStart), "cut off": content[:record+100],
	} {
		if _, err := Of(content, "v1.2.3"); err == nil || !strings.Contains(err.Error(), "not a binary made by Go") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzBuildInfo(f *testing.F) {
	f.Add([]byte(recordStart + "\x08\x02" + strings.Repeat("\x00", 16) + "\x06go1.26\x28" + strings.Repeat("m", 16) + "path\tm\n" + strings.Repeat("m", 17)))
	f.Fuzz(func(t *testing.T, content []byte) {
		if info, err := buildInfo(content); (info == nil) != (err != nil) {
			t.Errorf("%v, %v", info, err)
		}
	})
}

// A document fits the binary that it was made of, and says what differs from another.
func TestCheck(t *testing.T) {
	binary := readProgram(t)
	text, err := Of(binary, "v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Of(binary, "v1.2.3"); err != nil || !bytes.Equal(text, again) {
		t.Errorf("made again it differs: %v", err)
	}
	if n, err := Check(text, binary, "v1.2.3"); err != nil || n < 10 {
		t.Errorf("%d modules, %v", n, err)
	}
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	first := d.Components[0]
	changed := func(c component) document {
		other := d
		other.Components = append([]component{c}, d.Components[1:]...)
		return other
	}
	newer, other := first, first
	newer.Version = "v9.9.9"
	other.Hashes = []hash{{sha256Name, strings.Repeat("00", 32)}}
	less, more, twice := d, d, d
	less.Components = d.Components[1:]
	more.Components = append(d.Components[:len(d.Components):len(d.Components)], component{Name: "example.com/more", Version: "v1.0.0"})
	twice.Components = append(d.Components[:len(d.Components):len(d.Components)], first)
	for name, test := range map[string]struct {
		d    document
		want string
	}{
		"a version": {changed(newer), first.Name + " v9.9.9"},
		"a hash":    {changed(other), first.Name + " " + first.Version + " SHA-256 0000"},
		"less":      {less, "does not list " + first.Name},
		"more":      {more, "lists example.com/more v1.0.0, which is not linked"},
		"twice":     {twice, "a module twice"},
		"nothing":   {document{}, "it describes"},
	} {
		text, err := json.Marshal(test.d)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Check(text, binary, "v1.2.3"); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Check(text, binary, "v1.2.4"); err == nil || !strings.Contains(err.Error(), "v1.2.4") {
		t.Errorf("another version: %v", err)
	}
	if _, err := Check(text, append(binary, 0), "v1.2.3"); err == nil {
		t.Error("a changed binary fits")
	}
	if _, err := Check([]byte("{"), binary, "v1.2.3"); err == nil {
		t.Error("half a document fits")
	}
}
