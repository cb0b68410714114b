package seal

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	hexKey    = hex.EncodeToString(keyBytes)
	base64Key = base64.StdEncoding.EncodeToString(keyBytes)
)

// keyFile writes a file with a content.
func keyFile(t *testing.T, content string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "seal.key")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadKeyFile(t *testing.T) {
	sealed := testKey(t).Seal([]byte("plain"), nil)
	for _, content := range []string{
		hexKey, hexKey + "\n", strings.ToUpper(hexKey),
		base64Key, base64Key + "\n", "  \t" + base64Key + " \r\n\n",
		base64Key + strings.Repeat("\n", maxKeyFile-len(base64Key)),
	} {
		k, err := ReadKeyFile(keyFile(t, content))
		if err != nil {
			t.Errorf("%q: %v", content, err)
			continue
		}
		if plain, err := k.Open(sealed, nil); err != nil || string(plain) != "plain" {
			t.Errorf("%q is read as another key: %v", content, err)
		}
	}
}

// TestMadeByTheMend runs the command that the errors give.
func TestMadeByTheMend(t *testing.T) {
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("openssl is not installed")
	}
	_, command, _ := strings.Cut(howToMake, ": ")
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = t.TempDir()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
	if _, err := ReadKeyFile(filepath.Join(cmd.Dir, "seal.key")); err != nil {
		t.Error(err)
	}
}

// refused are the contents of files that hold no key, with what is said of them.
var refused = map[string]string{
	"":                                  "is empty",
	" \n\t\n":                           "is empty",
	hexKey[:62]:                         "holds 62 bytes of text",
	hexKey + "00":                       "holds 66 bytes of text",
	base64Key[:43]:                      "holds 43 bytes of text",
	string(keyBytes):                    "holds 32 bytes of text",
	hexKey[:63] + "g":                   "holds neither",
	base64Key[:43] + "A":                "holds neither", // the base64 of 33 bytes
	base64Key[:42] + "==":               "holds neither", // of 31
	base64Key[:42] + "/=":               "holds neither", // stray bits
	strings.Repeat("-", 43) + "=":       "holds neither", // the other alphabet
	hexKey + "\n" + hexKey:              "more than one line",
	base64Key[:20] + "\n" + base64Key:   "more than one line",
	hexKey + strings.Repeat("\n", 4096): "too long",
	strings.Repeat("a", 1<<20):          "too long",
}

func TestReadKeyFileRefuses(t *testing.T) {
	for content, want := range refused {
		path := keyFile(t, content)
		k, err := ReadKeyFile(path)
		if err == nil || k != nil {
			t.Errorf("%.100q was taken for a key", content)
			continue
		}
		saysTheFix(t, err, path, want, "openssl rand -base64 32")
		if text := strings.TrimSpace(content); len(text) >= 20 && strings.Contains(err.Error(), text[:20]) {
			t.Errorf("the error holds what is in the file: %v", err)
		}
	}
}

func TestKeyFileThatCannotBeRead(t *testing.T) {
	folder := t.TempDir()
	for path, want := range map[string]string{
		filepath.Join(folder, "no.key"):      "does not exist",
		filepath.Join(folder, "no", "a.key"): "does not exist",
		folder:                               "is a folder",
	} {
		_, err := ReadKeyFile(path)
		saysTheFix(t, err, path, want, "openssl rand -base64 32")
	}
	closed := keyFile(t, hexKey)
	_, err := ReadKeyFile(filepath.Join(closed, "a.key"))
	saysTheFix(t, err, closed, "can't be read", "give the path of another file")
	if err := os.Chmod(closed, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadKeyFile(closed); os.Getuid() != 0 { // whom no mode stops
		saysTheFix(t, err, closed, "can't be read by this user", "correct the owner and mode")
	}
}

// TestEndlessKeyFile: no more is read than a key file may have.
func TestEndlessKeyFile(t *testing.T) {
	if _, err := os.Stat("/dev/zero"); err != nil {
		t.Skip("there is no endless file")
	}
	_, err := ReadKeyFile("/dev/zero")
	saysTheFix(t, err, "/dev/zero", "too long")
}

func saysTheFix(t *testing.T, err error, wants ...string) {
	t.Helper()
	if err == nil {
		t.Error("there is no error")
		return
	}
	for _, want := range wants {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q lacks %q", err, want)
		}
	}
	if strings.ContainsAny(err.Error(), "\r\n") {
		t.Errorf("%q is more than one line", err)
	}
}

var number = regexp.MustCompile(`\d+`)

// FuzzDecodeKey holds what is taken for a key to being written in one of the
// two ways, and an error to being one that tells nothing of the content but its
// length.
func FuzzDecodeKey(f *testing.F) {
	f.Add([]byte(hexKey))
	f.Add([]byte(base64Key + "\r\n"))
	known := map[string]bool{}
	for content := range refused {
		f.Add([]byte(content[:min(len(content), maxKeyFile+1)]))
		_, err := decodeKey([]byte(content))
		known[number.ReplaceAllString(err.Error(), "N")] = true
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		key, err := decodeKey(content)
		if err != nil {
			if len(key) > 0 || !known[number.ReplaceAllString(err.Error(), "N")] {
				t.Errorf("%q: %x, %q", content, key, err)
			}
			return
		}
		text := string(bytes.TrimSpace(content))
		if text != base64.StdEncoding.EncodeToString(key) && strings.ToLower(text) != hex.EncodeToString(key) {
			t.Errorf("%q is read as %x", text, key)
		}
	})
}
