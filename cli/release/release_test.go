package release

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/internal/hint"
	"teamdata/internal/sbom"
)

const (
	unixName    = "teamdata_v1.2.3_linux_amd64"
	windowsName = "teamdata_v1.2.3_windows_amd64"
)

// program is the content of this module's program, as `go run` has linked it for the tests
// that start it, too.
var program = sync.OnceValues(func() (string, error) {
	build := exec.Command("go", "run", "-trimpath", "-exec", "cat", "../..")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	content, err := build.Output()
	return string(content), err
})

func readProgram(t *testing.T) string {
	t.Helper()
	content, err := program()
	kit.Must(t, err)
	return content
}

// folder is a release in a folder, of that program.
type folder struct {
	*testing.T
	path   string
	key    string // the file of the key that signed it
	signer Signer
}

// newFolder makes a release like .ci/release: two archives, of which each has its bill
// of materials, in a folder of their own one more file, and the signed sums.
func newFolder(t *testing.T) *folder {
	t.Helper()
	f := &folder{T: t, path: t.TempDir()}
	binary := readProgram(t)
	f.write(unixName+".tar.gz", tarOf(t, unixName+"/teamdata", binary))
	f.write(windowsName+".zip", zipOf(t, windowsName+"/teamdata.exe", binary))
	bom, err := sbom.Of([]byte(binary), "v1.2.3")
	kit.Must(t, err)
	f.write(unixName+".cdx.json", string(bom))
	f.write(windowsName+".cdx.json", string(bom))
	kit.Must(t, os.Mkdir(filepath.Join(f.path, "image"), 0o755))
	f.write("image/index.json", "{}\n")
	f.sums()
	f.key, f.signer = newKey(t)
	f.sign(f.key)
	return f
}

func (f *folder) write(name, content string) {
	f.Helper()
	kit.WriteFile(f, filepath.Join(f.path, name), content)
}

func (f *folder) read(name string) string {
	f.Helper()
	return kit.ReadText(f, filepath.Join(f.path, name))
}

// sums writes SHA256SUMS of the files that there are.
func (f *folder) sums() {
	f.Helper()
	var b strings.Builder
	for _, name := range []string{"image/index.json", unixName + ".cdx.json", unixName + ".tar.gz", windowsName + ".cdx.json", windowsName + ".zip"} {
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256([]byte(f.read(name))), name)
	}
	f.write(sumsFile, b.String())
}

// verify returns what was printed, the error's text and its hint. Without signers the
// signature is not checked.
func (f *folder) verify(signers ...Signer) (said, text, advice string) {
	f.Helper()
	var out bytes.Buffer
	err := Verify(f.path, signers, &out)
	if len(signers) == 0 {
		if err == nil {
			f.Error("it is verified with no key")
		}
		out.Reset()
		err = VerifyUnsigned(f.path, &out)
	}
	if err != nil {
		text, advice = hint.Split(err)
	}
	return out.String(), text, advice
}

// mustSay holds a check to an error, and to a text in what is printed or in the error.
func (f *folder) mustSay(want string, signers ...Signer) {
	f.Helper()
	said, text, advice := f.verify(signers...)
	if text == "" || advice == "" || !strings.Contains(said+text, want) {
		f.Errorf("it printed\n%s and ended with %q, hint %q; there is no %q", said, text, advice, want)
	}
}

func tarOf(t *testing.T, name, content string) string {
	t.Helper()
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.NoCompression) // which is faster
	w := tar.NewWriter(z)
	err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o755, Size: int64(len(content))})
	if _, e := io.WriteString(w, content); err != nil || e != nil || w.Close() != nil || z.Close() != nil {
		t.Fatal(err, e)
	}
	return b.String()
}

func zipOf(t *testing.T, name, content string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	entry, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
	kit.Must(t, err)
	if _, err := io.WriteString(entry, content); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestVerify(t *testing.T) {
	f := newFolder(t)
	said, text, _ := f.verify(f.signer)
	if text != "" || !strings.Contains(said, "is signed by the key given, SHA256:") || !strings.Contains(said, "\n5 files as in SHA256SUMS\n") ||
		!strings.Contains(said, "linux/amd64 v1.2.3 is linked from the ") || !strings.Contains(said, "windows/amd64 v1.2.3 is linked from the ") {
		t.Errorf("it printed\n%sand ended with %q", said, text)
	}
	if said, text, _ := f.verify(); text != "" || !strings.Contains(said, "signature of SHA256SUMS was not checked") {
		t.Errorf("without a key it printed\n%sand ended with %q", said, text)
	}
}

// A byte changed in any file, a missing file and an additional one are named.
func TestChangedFiles(t *testing.T) {
	f := newFolder(t)
	for _, name := range []string{unixName + ".tar.gz", windowsName + ".zip", unixName + ".cdx.json", "image/index.json"} {
		content := f.read(name)
		f.write(name, content[:len(content)/2]+"!"+content[len(content)/2+1:])
		f.mustSay(name+" was changed\n", f.signer)
		kit.Must(t, os.Remove(filepath.Join(f.path, name)))
		f.mustSay(name+" is missing\n", f.signer)
		f.write(name, content)
	}
	f.write("image/more", "")
	f.mustSay("image/more is additional", f.signer)
	kit.Must(t, os.Remove(filepath.Join(f.path, "image/more")))
	if _, text, _ := f.verify(f.signer); text != "" {
		t.Errorf("as it was it ends with %q", text)
	}
	kit.Must(t, os.Remove(filepath.Join(f.path, sumsFile)))
	f.mustSay("has no SHA256SUMS", f.signer)
}

// Sums and a signature that fit do not help a bill of materials that doesn't.
func TestWrongBillOfMaterials(t *testing.T) {
	f := newFolder(t)
	bom, archive := f.read(unixName+".cdx.json"), f.read(unixName+".tar.gz")
	signed := func(want string) {
		t.Helper()
		f.sums()
		f.sign(f.key)
		f.mustSay(want, f.signer)
	}
	f.write(unixName+".cdx.json", strings.Replace(bom, `"name": "github.com/spf13/cobra"`, `"name": "example.com/cobra"`, 1))
	signed(unixName + ".cdx.json: it does not list github.com/spf13/cobra ")
	f.write(unixName+".cdx.json", bom)
	f.write(unixName+".tar.gz", tarOf(t, unixName+"/teamdata", readProgram(t)+"\x00"))
	signed("it describes teamdata v1.2.3 SHA-256 ")
	f.write(unixName+".tar.gz", tarOf(t, unixName+"/README.md", "read me"))
	signed("its archive has no program teamdata")
	f.write(unixName+".tar.gz", "no archive")
	signed("its archive can't be read")
	f.write(unixName+".tar.gz", archive)
	f.write(windowsName+".zip", zipOf(t, "README.md", "read me"))
	signed("its archive has no teamdata.exe")
}

func TestParseSums(t *testing.T) {
	sum := strings.Repeat("ab", 32)
	if got, err := parseSums(sum + "  a/b.txt\n" + sum + " *c\n"); err != nil || len(got) != 2 || got["a/b.txt"] != sum || got["c"] != sum {
		t.Errorf("%v, %v", got, err)
	}
	for text, want := range map[string]string{
		"":                              "it lists no file",
		"\n":                            "not a line of sha256sum",
		sum + "\n":                      "not a line of sha256sum",
		sum[2:] + "  a\n":               "not a line of sha256sum",
		sum + "  \n":                    "not a line of sha256sum",
		sum + "  ../a\n":                "not a path below the folder",
		sum + "  /etc/passwd\n":         "not a path below the folder",
		sum + "  a\n" + sum + "  a\n":   "it has a twice",
		sum + "  a\nnothing of a sum\n": "not a line of sha256sum",
	} {
		if _, err := parseSums(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
